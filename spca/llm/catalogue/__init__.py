"""Which models there are, where they are asked, and what they cost."""
