"""What a run writes: its folder, the records in it, and what turns finished levels into files."""
