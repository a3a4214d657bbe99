"""The static policy: tell the coder what is wrong with its code before anything runs it.

It does not keep generated code in; the sandbox does (:mod:`spca.sandbox`), and every attack is held there with this
policy left out. The policy parses and never imports generated code. It covers

- the host, which parses, merges and shows the source: nesting deeper than what recursion over a tree can bear, what
  :mod:`spca.code.merge` cannot place, faults whose words are too long or steer a terminal. Sizes and the cost of
  compiling are bounded before, in :mod:`spca.code.compilation`;
- the regression check, which reads from the text what a patch changes: nothing but constants runs when the module is
  loaded, no import at the top level is rebound, and ``getattr`` takes no name that is put together;
- repeatable runs, which no other layer ensures, because the sandbox has clocks and entropy: allowed modules only, and
  seeds for random generators;
- what fails in the sandbox anyway, or breaks the contract of an action: modules and members that are missing, files,
  terminals, async code, writing the state of the world, redefined primitives.

Not covered is whatever the sandbox holds anyway: frames, code objects and dunder attributes, names computed in format
strings or patterns, modules handed around as values, classes made of data. In doubt code passes: a name that a method
binds in any way is not judged there.
"""
