"""What a model is shown: a snapshot of the sensors with an annotated picture, and the message made of it."""
