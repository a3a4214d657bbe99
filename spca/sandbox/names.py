"""Names that the gate knows: builtins, attributes, special methods, decorators (pure data)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _dunders(text: str) -> frozenset[str]:
    return frozenset(f"__{word}__" for word in text.split())


REFUSED_BUILTINS: Final[Mapping[str, str]] = {
    "open": "generated code has no files",
    "input": "nobody answers",
    "exec": "write the code itself",
    "eval": "write the expression itself, or use int() or float()",
    "compile": "write the code itself",
    "globals": "use constants above the methods, or attributes of self",
    "locals": "name the variables",
    "vars": "name the attributes",
    "dir": "name the attributes",
    "breakpoint": "there is no debugger",
    "help": "there is no terminal",
    "exit": "return from the method",
    "quit": "return from the method",
    "copyright": "there is no terminal",
    "credits": "there is no terminal",
    "license": "there is no terminal",
    "memoryview": "use bytes or numpy arrays",
}
"""Builtins that reach out, with what to do instead."""

MEMBER_INSTEAD: Final[Mapping[str, str]] = {
    "dataclasses.make_dataclass": "write a class statement",
    "functools.update_wrapper": "use functools.wraps",
    "numpy.bool8": "use numpy.bool_",
    "numpy.float": "use float",
    "numpy.fromfile": "generated code has no files",
    "numpy.int": "use int",
    "numpy.lib.stride_tricks.as_strided": "use numpy.lib.stride_tricks.sliding_window_view",
    "numpy.load": "generated code has no files",
    "numpy.loadtxt": "generated code has no files",
    "numpy.save": "generated code has no files",
    "numpy.savetxt": "generated code has no files",
    "operator.attrgetter": "use a lambda",
    "operator.methodcaller": "use a lambda",
    "string.Formatter": "use an f-string",
    "dataclasses.Field": "name the attributes",
    "dataclasses.fields": "name the attributes",
    "typing.get_args": "generated code does not inspect code",
    "typing.get_type_hints": "generated code does not inspect code",
}
"""What to do without a member of an allowed module."""

BY_NAME: Final = frozenset({"getattr", "setattr", "delattr", "hasattr"})
"""Builtins that take the name of an attribute; the name must be literal."""

READABLE: Final = frozenset({"__name__", "__doc__"})
"""Dunder attributes that may be read of anything."""

SPECIAL_METHODS: Final = _dunders(
    """
        init new post_init repr str bytes format bool hash len length_hint iter next reversed contains
        getitem setitem delitem missing call eq ne lt le gt ge
        add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or
        radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rlshift rrshift rand rxor ror
        iadd isub imul imatmul itruediv ifloordiv imod ipow ilshift irshift iand ixor ior
        neg pos abs invert int float complex index round trunc floor ceil copy deepcopy enter exit
    """
)
"""Special methods that a class inside a method may define, and call through ``super()``."""

CLASS_SETTINGS: Final = frozenset({"__slots__", "__match_args__"})
"""Dunder names that the body of a class inside a method may assign, to literals."""

INTERNALS: Final = _words(
    """
    gi_frame gi_code gi_yieldfrom gi_running gi_suspended cr_frame cr_code cr_await cr_origin cr_running cr_suspended
    ag_frame ag_code ag_await ag_running ag_suspended tb_frame tb_next tb_lasti tb_lineno
    f_back f_builtins f_code f_globals f_locals f_lasti f_lineno f_trace f_trace_lines f_trace_opcodes f_generator
    co_code co_consts co_names co_varnames co_freevars co_cellvars co_filename co_name co_qualname co_flags
    co_argcount co_kwonlyargcount co_posonlyargcount co_nlocals co_stacksize co_firstlineno co_lines co_positions
    co_lnotab co_linetable co_exceptiontable func_globals func_code func_closure func_defaults func_dict mro
    """
)
"""Attributes of frames, code, tracebacks, generators and classes that lead out of generated code."""

REFUSED_ATTRIBUTES: Final[Mapping[str, str]] = {
    "tofile": "generated code has no files",
    "dump": "generated code has no files",
    "dumps": "use repr or copy.deepcopy",
    "ctypes": "work on the array itself",
    "cffi": "use the methods of the generator",
    "setflags": "work on a copy of the array",
    "writeable": "work on a copy of the array",
    "_evaluate": "generated code does not evaluate text",
    "_convert_": "write a class statement",
    "_create_": "write a class statement",
    "register": "inherit from the class, or test with isinstance",
}
"""Attributes that reach files, memory or modules, evaluate text, or fake instances; with advice."""

DUNDER_INSTEAD: Final[Mapping[str, str]] = {
    "__class__": "use type(x)",
    "__dict__": "name the attributes",
    "__len__": "use len(x)",
    "__str__": "use str(x)",
    "__repr__": "use repr(x)",
    "__getitem__": "use x[key]",
    "__setitem__": "use x[key] = value",
    "__contains__": "use key in x",
    "__iter__": "use iter(x)",
    "__next__": "use next(x)",
    "__eq__": "use ==",
    "__import__": "write an import statement",
}
"""What says the same as a dunder name."""

SECRET_WORDS: Final = INTERNALS | _dunders(
    """
        class bases base mro subclasses globals builtins import code closure dict getattribute loader spec self func
        instancecheck subclasscheck subclasshook array_interface array_struct reduce reduce_ex traceback
    """
)
"""Strings that are of use only where an attribute is looked up by name."""

DECORATORS: Final = _words(
    """
    staticmethod classmethod property functools.cache functools.lru_cache functools.cached_property abc.abstractmethod
    typing.final typing.overload typing.override typing.no_type_check
    """
)
"""Decorators of methods by full name; those that are called take literals."""

ONE_ARGUMENT: Final[Mapping[str, str]] = {
    "type": "write a class statement to make a class",
    "functools.wraps": "the function that is wrapped",
}
"""What makes or copies attributes by name when it is given more."""

ENUMS: Final = frozenset(f"enum.{name}" for name in _words("Enum Flag IntEnum IntFlag ReprEnum StrEnum"))
"""Classes that make classes when they are called with names; dunder names become attributes of these."""

ONLY_CALLED: Final[Mapping[str, str]] = {
    "type": "write a class statement, or a lambda",
    "functools.wraps": "write it as a decorator",
    "dataclasses.field": "write it in the body of a @dataclass",
} | dict.fromkeys(ENUMS, "inherit from it")
"""What must not get a second name, under which it would pass unseen."""

DATACLASS: Final = "dataclasses.dataclass"
FIELD: Final = "dataclasses.field"

SEEDED: Final = _words(
    """
    random.Random random.seed numpy.random.default_rng numpy.random.seed numpy.random.RandomState
    numpy.random.SeedSequence numpy.random.MT19937 numpy.random.PCG64 numpy.random.PCG64DXSM numpy.random.Philox
    numpy.random.SFC64
    """
)
"""What takes a seed, and without one the entropy of the machine."""

SEED_WORDS: Final = ("seed", "a", "x", "entropy", "key")
"""Parameters by which a seed is given."""

CONSTANT_CALLS: Final = _words(
    """
    int float complex bool str bytes tuple list set frozenset dict range slice len min max sum abs round sorted zip
    reversed enumerate collections.namedtuple collections.deque collections.defaultdict collections.Counter
    collections.OrderedDict numpy.array math.sqrt math.radians re.compile typing.TypeVar typing.NewType
    """
)
"""What a constant or a default may call, by full name, with constants as arguments."""

MUTATORS: Final = _words(
    """
    append extend insert remove pop clear sort reverse fill put itemset resize partition setfield
    """
)
"""Methods that change a list or an array in place."""
