"""Speed figures, printed by ``scripts/bench``; nothing here passes or fails."""
