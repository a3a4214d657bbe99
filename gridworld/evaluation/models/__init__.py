"""The models that ``--model`` can name."""
