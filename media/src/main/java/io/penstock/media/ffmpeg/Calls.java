// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.error.CodecException;
import io.penstock.os.DowncallFailure;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions of FFmpeg that are called here, of the set that {@link FFmpeg} found, by the shape of their types. */
@SuppressWarnings("restricted")
final class Calls {

    static final int EAGAIN = -11;
    /** {@code AVERROR_EOF}: "EOF " as a tag, negated. */
    static final int EOF = -541478725;

    static final MethodHandle MALLOC = function("av_malloc", JAVA_LONG, JAVA_LONG);
    static final MethodHandle FREEP = procedure("av_freep");
    static final MethodHandle ERROR_TEXT = function("av_strerror", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    static final MethodHandle SET_NUMBER =
            function("av_opt_set_int", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
    static final MethodHandle GET_NUMBER =
            function("av_opt_get_int", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);
    static final MethodHandle DICT_SET =
            function("av_dict_set", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
    static final MethodHandle DICT_FREE = procedure("av_dict_free");
    static final MethodHandle PIXEL_FORMAT = function("av_get_pix_fmt", JAVA_INT, JAVA_LONG);
    static final MethodHandle PIXEL_FORMAT_NAME = function("av_get_pix_fmt_name", JAVA_LONG, JAVA_INT);
    static final MethodHandle IMAGE_BYTES =
            function("av_image_get_buffer_size", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    static final MethodHandle IMAGE_COPY = function("av_image_copy_to_buffer", JAVA_INT, JAVA_LONG, JAVA_INT,
            JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);

    static final MethodHandle FRAME_ALLOC = function("av_frame_alloc", JAVA_LONG);
    static final MethodHandle FRAME_SIDE_DATA = function("av_frame_get_side_data", JAVA_LONG, JAVA_LONG, JAVA_INT);
    static final MethodHandle FRAME_FREE = procedure("av_frame_free");
    static final MethodHandle PACKET_ALLOC = function("av_packet_alloc", JAVA_LONG);
    static final MethodHandle PACKET_FREE = procedure("av_packet_free");
    static final MethodHandle PACKET_UNREF = procedure("av_packet_unref");
    static final MethodHandle PACKET_NEW = function("av_new_packet", JAVA_INT, JAVA_LONG, JAVA_INT);
    static final MethodHandle DESCRIPTOR = function("avcodec_descriptor_get_by_name", JAVA_LONG, JAVA_LONG);
    static final MethodHandle CODEC_NAME = function("avcodec_get_name", JAVA_LONG, JAVA_INT);
    static final MethodHandle FIND_DECODER = function("avcodec_find_decoder", JAVA_LONG, JAVA_INT);
    static final MethodHandle CONTEXT_ALLOC = function("avcodec_alloc_context3", JAVA_LONG, JAVA_LONG);
    static final MethodHandle CONTEXT_FREE = procedure("avcodec_free_context");
    static final MethodHandle PARAMETERS_ALLOC = function("avcodec_parameters_alloc", JAVA_LONG);
    static final MethodHandle PARAMETERS_FREE = procedure("avcodec_parameters_free");
    static final MethodHandle PARAMETERS_TO_CONTEXT =
            function("avcodec_parameters_to_context", JAVA_INT, JAVA_LONG, JAVA_LONG);
    static final MethodHandle OPEN = function("avcodec_open2", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle SEND = function("avcodec_send_packet", JAVA_INT, JAVA_LONG, JAVA_LONG);
    static final MethodHandle RECEIVE = function("avcodec_receive_frame", JAVA_INT, JAVA_LONG, JAVA_LONG);
    static final MethodHandle FLUSH = procedure("avcodec_flush_buffers");

    static final MethodHandle FORMAT_ALLOC = function("avformat_alloc_context", JAVA_LONG);
    static final MethodHandle OPEN_INPUT =
            function("avformat_open_input", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle STREAM_INFO = function("avformat_find_stream_info", JAVA_INT, JAVA_LONG, JAVA_LONG);
    static final MethodHandle CLOSE_INPUT = procedure("avformat_close_input");
    static final MethodHandle READ_PACKET = function("av_read_frame", JAVA_INT, JAVA_LONG, JAVA_LONG);
    static final MethodHandle IO_ALLOC = function("avio_alloc_context", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT,
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle IO_FREE = procedure("avio_context_free");

    /** Whether side data are of a stream's parameters, as since FFmpeg 6.1, instead of the stream itself. */
    static final boolean HAS_CODED_SIDE_DATA = FFmpeg.has("av_packet_side_data_get");
    static final MethodHandle SIDE_DATA = HAS_CODED_SIDE_DATA
            ? function("av_packet_side_data_get", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT)
            : function("av_stream_get_side_data", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);

    /** {@code AV_LOG_QUIET}. The level of messages is one setting of the process. */
    private static final int QUIET = -8;

    static {
        try {
            FFmpeg.handle("av_log_set_level", FunctionDescriptor.ofVoid(JAVA_INT)).invokeExact(QUIET);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    private Calls() {
    }

    private static MethodHandle function(String name, MemoryLayout result, MemoryLayout... parameters) {
        return FFmpeg.handle(name, FunctionDescriptor.of(result, parameters));
    }

    private static MethodHandle procedure(String name) {
        return FFmpeg.handle(name, FunctionDescriptor.ofVoid(JAVA_LONG));
    }

    /** Makes something: an address that is not null. */
    static long make(MethodHandle function, String name) {
        try {
            return notNull((long) function.invokeExact(), name);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Makes something from a number: an address that is not null. */
    static long make(MethodHandle function, long from, String name) {
        return notNull(address(function, from), name);
    }

    static long address(MethodHandle function, long from) {
        try {
            return (long) function.invokeExact(from);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    static long address(MethodHandle function, int from) {
        try {
            return (long) function.invokeExact(from);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    static int number(MethodHandle function, long a) {
        try {
            return (int) function.invokeExact(a);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    static int number(MethodHandle function, long a, long b) {
        try {
            return (int) function.invokeExact(a, b);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    static long address(MethodHandle function, long a, int b) {
        try {
            return (long) function.invokeExact(a, b);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    static int number(MethodHandle function, long a, int b) {
        try {
            return (int) function.invokeExact(a, b);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    static int number(MethodHandle function, long a, long b, long c) {
        try {
            return (int) function.invokeExact(a, b, c);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    static void run(MethodHandle procedure, long a) {
        try {
            procedure.invokeExact(a);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Frees what an address points to, by a function that takes the address of the address. */
    static void free(MethodHandle procedure, long address) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment holder = arena.allocate(JAVA_LONG);
            holder.set(JAVA_LONG, 0, address);
            run(procedure, holder.address());
        }
    }

    private static long notNull(long address, String name) {
        if (address == 0) {
            throw new OutOfMemoryError(name + " has no memory");
        }
        return address;
    }

    /**
     * Checks the status of a call.
     *
     * @param status what it returned
     * @param call its name, for the message
     * @throws CodecException if it failed
     */
    static int check(int status, String call) {
        if (status < 0) {
            throw new CodecException(call + ": " + text(status));
        }
        return status;
    }

    static String text(int status) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(128);
            int known = (int) ERROR_TEXT.invokeExact(status, text.address(), text.byteSize());
            return known < 0 ? "error " + status : text.getString(0);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }
}
