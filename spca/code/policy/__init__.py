"""The static policy, which tells the coder before execution what is wrong with its code.

The policy is no security boundary: the sandbox (:mod:`spca.sandbox`) contains generated code, even without this policy.
The policy parses generated code and never imports it. The policy protects

- the host, which parses, merges and shows the source: the policy refuses sources nested too deeply for recursion, and
  statements that :mod:`spca.code.merge` cannot place. Its messages are short and cannot control a terminal.
  :mod:`spca.code.compilation` limits sizes and the cost of compiling beforehand;
- the regression check, which finds out from the text what a patch changes: only constants may be evaluated when the
  module is loaded, imports at the top level must not be rebound, and ``getattr`` must not take a computed name;
- repeatable runs, which no other layer ensures, because the sandbox has clocks and entropy: only allowed modules may be
  imported, and random generators need seeds;
- the coder from code that would fail in the sandbox or violate the contract of an action: missing modules and members,
  files, terminals, async code, writes to the state of the world, redefined primitives.

The policy does not check what the sandbox contains anyway: frames, code objects, dunder attributes, names computed in
format strings or patterns, modules passed as values, and dynamically created classes. Doubtful code is allowed: the
policy does not judge the use of a name that the method binds in any way.
"""
