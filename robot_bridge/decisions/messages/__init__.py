"""Messages for a model: a snapshot of the sensors with an annotated picture, and the text made from the snapshot."""
