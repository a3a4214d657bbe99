"""Helpers that all packages of the project may use; this package imports no other package of the project."""
