"""Long gates, run by ``scripts/soak NAME``; each goes on where it was interrupted."""
