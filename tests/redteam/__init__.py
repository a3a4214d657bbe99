"""Attacks on the sandbox, and what it takes to see whether one succeeds.

``given`` and ``own`` hold the attacks, ``bait`` what they are after, ``host`` the process that a sandbox protects,
``bare`` the same without a sandbox, ``judging`` what counts as an escape, ``harness`` brings them together.
"""
