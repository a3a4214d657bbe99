"""The folder of a run, the records in the folder, and the recorder of finished levels."""
