"""An exploration: when the model is asked, what is done without it, and how it ends."""
