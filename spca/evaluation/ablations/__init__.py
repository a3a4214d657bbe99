"""What each part of learning is worth: studies that learn with and without it."""
