"""The reference library of skills: pieces of one ``class Agent``, read as text by :mod:`spca.reference.coder`.

Nothing imports these modules at run time. Each method is written as a good coder LLM would answer; what a method
calls may lie in another file of this folder.
"""
