"""What generated code may use: the tables of layer 1 (pure data).

The lists of members were made from the public names of each module. Left out is whatever reads or writes files, maps
or exposes memory, hands out modules, frames or other attributes by a string, evaluates text, or makes classes out of
data. A name that only some versions of Python have is in ``_SINCE``: a member that is missing at run time would hand
out its module as the ``obj`` of an AttributeError.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

_MEMBERS: Final = {
    "numpy": """
        False_ ScalarType True_ abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis
        apply_over_axes arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort
        argwhere around array array2string array_equal array_equiv array_repr array_split array_str asanyarray asarray
        asarray_chkfinite ascontiguousarray asfortranarray asin asinh asmatrix astype atan atan2 atanh atleast_1d
        atleast_2d atleast_3d average bartlett base_repr binary_repr bincount bitwise_and bitwise_count bitwise_invert
        bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block bool bool_ broadcast
        broadcast_arrays broadcast_shapes broadcast_to busday_count busday_offset busdaycalendar byte bytes_ c_
        can_cast cbrt cdouble ceil character choose clip clongdouble column_stack common_type complex128 complex64
        complexfloating compress concat concatenate conj conjugate convolve copy copysign copyto corrcoef correlate
        cos cosh count_nonzero cov cross csingle cumprod cumsum cumulative_prod cumulative_sum datetime64
        datetime_as_string datetime_data deg2rad degrees delete diag diag_indices diag_indices_from diagflat diagonal
        diff digitize divide divmod dot double dsplit dstack dtype e ediff1d einsum einsum_path empty empty_like equal
        errstate euler_gamma exp exp2 expand_dims expm1 extract eye fabs fill_diagonal finfo fix flatiter flatnonzero
        flexible flip fliplr flipud float16 float32 float64 float_power floating floor floor_divide fmax fmin fmod
        format_float_positional format_float_scientific frexp frombuffer fromfunction fromiter frompyfunc fromstring
        full full_like gcd generic geomspace get_printoptions geterr gradient greater greater_equal half hamming
        hanning heaviside histogram histogram2d histogram_bin_edges histogramdd hsplit hstack hypot i0 identity iinfo
        imag index_exp indices inexact inf inner insert int16 int32 int64 int8 int_ intc integer interp intersect1d
        intp invert is_busday isclose iscomplex iscomplexobj isdtype isfinite isfortran isin isinf isnan isnat
        isneginf isposinf isreal isrealobj isscalar issubdtype iterable ix_ kaiser kron lcm ldexp left_shift less
        less_equal lexsort linspace little_endian log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not
        logical_or logical_xor logspace long longdouble longlong mask_indices matmul matrix matrix_transpose matvec
        max maximum may_share_memory mean median meshgrid mgrid min min_scalar_type minimum mintypecode mod modf
        moveaxis multiply nan nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
        nanpercentile nanprod nanquantile nanstd nansum nanvar ndarray ndenumerate ndim ndindex nditer negative
        nested_iters newaxis nextafter nonzero not_equal number object_ ogrid ones ones_like outer packbits pad
        partition percentile permute_dims pi piecewise place poly poly1d polyadd polyder polydiv polyfit polyint
        polymul polysub polyval positive pow power printoptions prod promote_types ptp put put_along_axis putmask
        quantile r_ rad2deg radians ravel ravel_multi_index real real_if_close recarray reciprocal record remainder
        repeat require reshape resize result_type right_shift rint roll rollaxis roots rot90 round row_stack s_
        searchsorted select set_printoptions setdiff1d seterr setxor1d shape shares_memory short sign signbit
        signedinteger sin sinc single sinh size sort sort_complex spacing split sqrt square squeeze stack std str_
        subtract sum swapaxes take take_along_axis tan tanh tensordot tile timedelta64 trace transpose trapezoid tri
        tril tril_indices tril_indices_from trim_zeros triu triu_indices triu_indices_from true_divide trunc typecodes
        typename ubyte ufunc uint uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong union1d unique unique_all
        unique_counts unique_inverse unique_values unpackbits unravel_index unsignedinteger unstack unwrap ushort
        vander var vdot vecdot vecmat vectorize void vsplit vstack where zeros zeros_like
    """,
    "numpy.char": """
        add array asarray capitalize center chararray compare_chararrays count decode encode endswith equal expandtabs
        find greater greater_equal index isalnum isalpha isdecimal isdigit islower isnumeric isspace istitle isupper
        join less less_equal ljust lower lstrip mod multiply not_equal partition replace rfind rindex rjust rpartition
        rsplit rstrip split splitlines startswith str_len strip swapcase title translate upper zfill
    """,
    "numpy.strings": """
        add capitalize center count decode encode endswith equal expandtabs find greater greater_equal index isalnum
        isalpha isdecimal isdigit islower isnumeric isspace istitle isupper less less_equal ljust lower lstrip mod
        multiply not_equal partition replace rfind rindex rjust rpartition rstrip slice startswith str_len strip
        swapcase title translate upper zfill
    """,
    "numpy.random": """
        BitGenerator Generator MT19937 PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence beta binomial bytes
        chisquare choice default_rng dirichlet exponential f gamma geometric get_state gumbel hypergeometric laplace
        logistic lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare
        noncentral_f normal pareto permutation poisson power rand randint randn random random_integers random_sample
        ranf rayleigh sample seed set_state shuffle standard_cauchy standard_exponential standard_gamma
        standard_normal standard_t triangular uniform vonmises wald weibull zipf
    """,
    "numpy.linalg": """
        LinAlgError cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm
        matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot
        tensorinv tensorsolve trace vecdot vector_norm
    """,
    "numpy.fft": """
        fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftfreq
        rfftn
    """,
    "numpy.ma": """
        MAError MaskError MaskType MaskedArray abs absolute add all allclose allequal alltrue amax amin angle anom
        anomalies any append apply_along_axis apply_over_axes arange arccos arccosh arcsin arcsinh arctan arctan2
        arctanh argmax argmin argsort around array asanyarray asarray atleast_1d atleast_2d atleast_3d average
        bitwise_and bitwise_or bitwise_xor bool_ ceil choose clip clump_masked clump_unmasked column_stack
        common_fill_value compress compress_cols compress_nd compress_rowcols compress_rows compressed concatenate
        conjugate convolve copy corrcoef correlate cos cosh count count_masked cov cumprod cumsum default_fill_value
        diag diagflat diagonal diff divide dot dstack ediff1d empty empty_like equal exp expand_dims fabs filled
        fix_invalid flatnotmasked_contiguous flatnotmasked_edges flatten_mask flatten_structured_array floor
        floor_divide fmod frombuffer fromflex fromfunction getdata getmask getmaskarray greater greater_equal
        harden_mask hsplit hstack hypot identity ids in1d indices inner innerproduct intersect1d isMA isMaskedArray
        is_mask is_masked isarray isin left_shift less less_equal log log10 log2 logical_and logical_not logical_or
        logical_xor make_mask make_mask_descr make_mask_none mask_cols mask_or mask_rowcols mask_rows masked
        masked_all masked_all_like masked_array masked_equal masked_greater masked_greater_equal masked_inside
        masked_invalid masked_less masked_less_equal masked_not_equal masked_object masked_outside masked_print_option
        masked_singleton masked_values masked_where max maximum maximum_fill_value mean median min minimum
        minimum_fill_value mod mr_ multiply mvoid ndenumerate ndim negative nomask nonzero not_equal
        notmasked_contiguous notmasked_edges ones ones_like outer outerproduct polyfit power prod product ptp put
        putmask ravel remainder repeat reshape resize right_shift round round_ set_fill_value setdiff1d setxor1d shape
        sin sinh size soften_mask sometrue sort sqrt squeeze stack std subtract sum swapaxes take tan tanh trace
        transpose true_divide union1d unique vander var vstack where zeros zeros_like
    """,
    "numpy.typing": "ArrayLike DTypeLike NDArray",
    "numpy.exceptions": """
        AxisError ComplexWarning DTypePromotionError
        ModuleDeprecationWarning TooHardError VisibleDeprecationWarning
    """,
    "numpy.dtypes": """
        BoolDType ByteDType BytesDType CLongDoubleDType Complex128DType Complex64DType DateTime64DType Float16DType
        Float32DType Float64DType Int16DType Int32DType Int64DType Int8DType IntDType LongDType LongDoubleDType
        LongLongDType ObjectDType ShortDType StrDType StringDType TimeDelta64DType UByteDType UInt16DType UInt32DType
        UInt64DType UInt8DType UIntDType ULongDType ULongLongDType UShortDType VoidDType
    """,
    "numpy.lib.stride_tricks": "sliding_window_view",
    "numpy.polynomial": "Chebyshev Hermite HermiteE Laguerre Legendre Polynomial",
    "collections": "ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque namedtuple",
    "collections.abc": """
        AsyncGenerator AsyncIterable AsyncIterator Awaitable Callable Collection Container Coroutine Generator
        Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence MutableSet
        Reversible Sequence Set Sized ValuesView
    """,
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "itertools": """
        accumulate chain combinations combinations_with_replacement compress count cycle dropwhile filterfalse groupby
        islice pairwise permutations product repeat starmap takewhile tee zip_longest
    """,
    "math": """
        acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2 expm1
        fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm ldexp lgamma
        log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder sin sinh sqrt tan tanh tau trunc
        ulp
    """,
    "dataclasses": """
        FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field is_dataclass replace
    """,
    "typing": """
        AbstractSet Annotated Any AnyStr AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator Awaitable
        Callable ChainMap ClassVar Collection Concatenate Container ContextManager Coroutine Counter DefaultDict Deque
        Dict Final FrozenSet Generator Generic Hashable ItemsView Iterable Iterator KeysView List Literal
        LiteralString Mapping MappingView Match MutableMapping MutableSequence MutableSet NamedTuple Never NewType
        NoReturn NotRequired Optional OrderedDict ParamSpec Pattern Protocol Required Reversible Self Sequence Set
        Sized SupportsAbs SupportsBytes SupportsComplex SupportsFloat SupportsIndex SupportsInt SupportsRound
        TYPE_CHECKING Text Tuple Type TypeAlias TypeGuard TypeVar TypeVarTuple TypedDict Union Unpack ValuesView
        assert_never assert_type cast final get_origin no_type_check overload
    """,
    "functools": "cache cached_property cmp_to_key lru_cache partial partialmethod reduce total_ordering wraps",
    "random": """
        Random betavariate choice choices expovariate gammavariate gauss getrandbits getstate lognormvariate
        normalvariate paretovariate randbytes randint random randrange sample seed setstate shuffle triangular uniform
        vonmisesvariate weibullvariate
    """,
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "copy": "Error copy deepcopy",
    "enum": """
        CONFORM CONTINUOUS EJECT Enum Flag IntEnum IntFlag KEEP NAMED_FLAGS ReprEnum STRICT StrEnum UNIQUE auto member
        nonmember property unique verify
    """,
    "operator": """
        abs add and_ call concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv
        ilshift imatmul imod imul index indexOf inv invert ior ipow irshift is_ is_not isub itemgetter itruediv ixor
        le length_hint lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor
    """,
    "queue": "Empty Full LifoQueue PriorityQueue Queue SimpleQueue",
    "re": """
        A ASCII DOTALL I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern RegexFlag S U UNICODE VERBOSE X compile
        error escape findall finditer fullmatch match search split sub subn
    """,
    "string": """
        Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable
        punctuation whitespace
    """,
    "statistics": """
        NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean linear_regression mean
        median median_grouped median_high median_low mode multimode pstdev pvariance quantiles stdev variance
    """,
    "abc": "ABC abstractmethod",
    "contextlib": "closing contextmanager nullcontext suppress",
    "numpy.lib": "",
    "__future__": "annotations",
}

_SINCE: Final[Mapping[tuple[int, int], Mapping[str, str]]] = {
    (3, 12): {"itertools": "batched", "math": "sumprod", "random": "binomialvariate", "typing": "override"},
    (3, 13): {"copy": "replace", "math": "fma", "re": "PatternError", "statistics": "kde kde_random"},
}


def _members(module: str, names: str) -> frozenset[str]:
    later = (more.get(module, "") for version, more in _SINCE.items() if sys.version_info >= version)
    return frozenset(" ".join([names, *later]).split())


MEMBERS: Final[Mapping[str, frozenset[str]]] = {module: _members(module, names) for module, names in _MEMBERS.items()}
"""Modules that may be imported, each with the names that may be taken from it; submodules are keys of their own."""

MODULES: Final[tuple[str, ...]] = tuple(MEMBERS)
"""What has to be loaded before the wall goes up."""

INSTEAD: Final[Mapping[str, str]] = {
    "os": "generated code has no files, processes or environment",
    "io": "generated code has no files",
    "pathlib": "generated code has no files",
    "subprocess": "generated code starts no processes",
    "threading": "write plain generators",
    "asyncio": "write plain generators",
    "sys": "for a largest number use math.inf",
    "time": "count steps instead: there is no clock",
    "datetime": "count steps instead: there is no clock",
    "logging": "use print",
    "json": "use repr, or keep values as they are",
    "pickle": "use copy.deepcopy",
    "inspect": "generated code does not inspect code",
    "types": "use typing",
    "warnings": "use print",
    "decimal": "use int or float",
    "fractions": "use int or float",
    "scipy": "use numpy",
    "pandas": "use numpy",
    "networkx": "write the search with collections.deque or heapq",
    "gymnasium": "act only by yielding primitives",
    "minigrid": "act only by yielding primitives",
}
"""What to do without a module that is often asked for."""
