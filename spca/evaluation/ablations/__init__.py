"""Ablation studies: learning in full and without each part of learning, to measure the value of the part."""
