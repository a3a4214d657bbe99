"""What every part may use: it imports nothing of ours."""
