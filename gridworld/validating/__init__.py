"""The checks of :mod:`gridworld.validation`: places, references and goals; each yields lines "field: reason"."""
