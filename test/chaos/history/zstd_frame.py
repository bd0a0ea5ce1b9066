"""One compressed chunk of output: a zstd frame, read with the library that Debian's own tools use."""
import ctypes
import ctypes.util

MOST_BYTES = 64 * 1024


def library():
    loaded = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    loaded.ZSTD_decompress.restype = ctypes.c_size_t
    loaded.ZSTD_decompress.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
    loaded.ZSTD_compress.restype = ctypes.c_size_t
    loaded.ZSTD_compress.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
                                     ctypes.c_int)
    loaded.ZSTD_isError.restype = ctypes.c_uint
    loaded.ZSTD_isError.argtypes = (ctypes.c_size_t,)
    return loaded


ZSTD = None


def zstd():
    global ZSTD
    ZSTD = ZSTD or library()
    return ZSTD


def unpacked(frame, length):
    """The bytes; or the frame itself when it is not a frame of that length: then no CRC fits."""
    if not 0 < length <= MOST_BYTES:
        return frame
    room = ctypes.create_string_buffer(length)
    got = zstd().ZSTD_decompress(room, length, frame, len(frame))
    return frame if zstd().ZSTD_isError(got) or got != length else room.raw[:length]


def packed(data):
    room = ctypes.create_string_buffer(2 * len(data) + 1024)
    size = zstd().ZSTD_compress(room, len(room), data, len(data), 1)
    return room.raw[:size]
