"""From files of run folders to values, leniently."""
