"""Ablation studies: learn with all parts of learning, then without each part in turn, to measure the value of each
part.
"""
