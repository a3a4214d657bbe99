"""A GGUF file of about 140 KB: a llama of one layer with random weights that knows single characters only.

It answers at once and makes no sense; grammars and limits hold for it as for any model.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

_U32, _F32, _BOOL, _STRING, _ARRAY, _I32 = 4, 6, 7, 8, 9, 5
_ALIGNMENT = 32
_WIDTH, _HEADS, _CONTEXT = 32, 2, 32768
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F))) + "\u2581"  # the last is how tokenizers write a space
_TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *_PRINTABLE]
_TYPES = [2, 3, 3] + [6] * 256 + [1] * len(_PRINTABLE)  # unknown, control, control, bytes, normal
_TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"


def write_tiny_gguf(path: Path) -> Path:
    """Write the model to ``path``; always the same bytes."""
    metadata, tensors = _metadata(), _tensors()
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + b"".join(metadata)
    data = b""
    for name, values in tensors.items():
        shape = values.shape[::-1]  # the fastest varying dimension first
        head += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        data += _padded(values.tobytes())
    path.write_bytes(_padded(head) + data)
    return path


def _metadata() -> list[bytes]:
    numbers = {
        "llama.context_length": _CONTEXT,
        "llama.embedding_length": _WIDTH,
        "llama.block_count": 1,
        "llama.feed_forward_length": _WIDTH,
        "llama.attention.head_count": _HEADS,
        "llama.attention.head_count_kv": _HEADS,
        "llama.rope.dimension_count": _WIDTH // _HEADS,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    texts = {
        "general.architecture": "llama",
        "tokenizer.ggml.model": "llama",
        "tokenizer.chat_template": _TEMPLATE,
    }
    entries = [_text(key) + struct.pack("<I", _STRING) + _text(value) for key, value in texts.items()]
    entries += [_text(key) + struct.pack("<II", _U32, value) for key, value in numbers.items()]
    entries.append(_text("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", _F32, 1e-5))
    entries.append(_text("tokenizer.ggml.add_bos_token") + struct.pack("<I?", _BOOL, True))
    entries.append(_array("tokenizer.ggml.tokens", _STRING, b"".join(map(_text, _TOKENS))))
    entries.append(_array("tokenizer.ggml.scores", _F32, struct.pack(f"<{len(_TOKENS)}f", *[0.0] * len(_TOKENS))))
    entries.append(_array("tokenizer.ggml.token_type", _I32, struct.pack(f"<{len(_TYPES)}i", *_TYPES)))
    return entries


def _tensors() -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    random = np.random.default_rng(0)
    square, wide = (_WIDTH, _WIDTH), (len(_TOKENS), _WIDTH)
    matrices = {"token_embd": wide, "output": wide}
    matrices |= {f"blk.0.{name}": square for name in ("attn_q", "attn_k", "attn_v", "attn_output")}
    matrices |= {f"blk.0.{name}": square for name in ("ffn_gate", "ffn_up", "ffn_down")}
    tensors = {f"{n}.weight": random.standard_normal(shape, dtype=np.float32) for n, shape in matrices.items()}
    # Never the likeliest token: free text ends at the limit only.
    tensors["output.weight"][2] = 0
    norms = ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm")
    return tensors | {f"{name}.weight": np.ones(_WIDTH, dtype=np.float32) for name in norms}


def _array(key: str, kind: int, values: bytes) -> bytes:
    return _text(key) + struct.pack("<IIQ", _ARRAY, kind, len(_TOKENS)) + values


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNMENT)
