"""Providers without a model: the embedded reference, recorded answers, faults made on purpose."""
