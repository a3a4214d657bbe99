"""What decides: a language model that is asked, and the reference navigator."""
