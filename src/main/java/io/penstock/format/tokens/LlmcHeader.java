// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.tokens;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.TokenRun;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The header of a data file of llm.c, and the tokens behind it. Little-endian:
 *
 * <pre>
 *      0  i32     magic: 20240520 (GPT-2) or 20240801 (Llama 3)
 *      4  i32     version: 1 or 7
 *      8  i32     tokens
 *     12  i32     253 of them, not used
 *   1024  u16[]   tokens; u32[] in version 7
 * </pre>
 */
final class LlmcHeader {

    private static final int HEADER_BYTES = 1024;
    private static final int VERSION_OFFSET = 4;
    private static final int TOKENS_OFFSET = 8;
    private static final int USED_HEADER_BYTES = 16;
    private static final int SHOWN_HEADER_INTS = 4;

    private static final int GPT2_MAGIC = 20240520;
    private static final int GPT2_VERSION = 1;
    private static final int LLAMA3_MAGIC = 20240801;
    private static final int LLAMA3_VERSION = 7;
    private static final int EVALUATION_MAGIC = 20240522;

    /** Restore a magic whose bytes were swapped: those of each 32 bits, or of each 16. */
    private static final IntUnaryOperator[] SWAPS = {Integer::reverseBytes,
        magic -> magic << 8 & 0xFF00FF00 | magic >>> 8 & 0x00FF00FF};

    static TokenRun read(MappedFile file) {
        MemorySegment bytes = file.mapping();
        file.require(0, HEADER_BYTES);
        Location path = file.location();
        int magic = bytes.byteSize() < Integer.BYTES ? 0 : bytes.get(LittleEndian.I32, 0);
        if (magic == EVALUATION_MAGIC) {
            throw new MalformedStoreException(path, 0, "magic " + magic + ", an llm.c evaluation file",
                    "a token stream: " + GPT2_MAGIC + " or " + LLAMA3_MAGIC);
        }
        for (IntUnaryOperator swap : SWAPS) {
            if (isKnown(swap.applyAsInt(magic))) {
                throw new MalformedStoreException(path, 0, "llm.c magic " + swap.applyAsInt(magic) + " with its bytes"
                        + " swapped", "little-endian numbers (write the file again on a little-endian machine)");
            }
        }
        if (!isKnown(magic) && bytes.byteSize() >= Integer.BYTES) {
            throw new MalformedStoreException(path, 0, "unknown llm.c magic " + magic,
                    GPT2_MAGIC + " or " + LLAMA3_MAGIC);
        }
        if (bytes.byteSize() < HEADER_BYTES) {
            throw new MalformedStoreException(path, bytes.byteSize(), "the file ends inside its header",
                    HEADER_BYTES + " bytes of it");
        }
        int version = bytes.get(LittleEndian.I32, VERSION_OFFSET);
        int expectedVersion = magic == GPT2_MAGIC ? GPT2_VERSION : LLAMA3_VERSION;
        if (version != expectedVersion) {
            throw new MalformedStoreException(path, VERSION_OFFSET, "version " + version,
                    expectedVersion + ", as magic " + magic + " has");
        }
        DType dtype = magic == GPT2_MAGIC ? DType.U16 : DType.U32;
        int count = bytes.get(LittleEndian.I32, TOKENS_OFFSET);
        if (count < 0) {
            throw new MalformedStoreException(path, TOKENS_OFFSET, "a count of " + count + " tokens", "0 or more");
        }
        long expectedBytes = HEADER_BYTES + (long) count * dtype.byteSize();
        if (bytes.byteSize() != expectedBytes) {
            throw new MalformedStoreException(path, Math.min(bytes.byteSize(), expectedBytes),
                    "a file of " + bytes.byteSize() + " bytes", expectedBytes + ": a header of " + HEADER_BYTES
                    + " and the " + count + " tokens of " + dtype + " that it counts");
        }
        return new TokenRun(file, HEADER_BYTES, dtype, count);
    }

    static Map<String, @Nullable Object> details(TokenRun tokens) {
        MemorySegment bytes = tokens.file().range(0, HEADER_BYTES);
        Map<String, @Nullable Object> details = new LinkedHashMap<>();
        details.put("header", IntStream.range(0, SHOWN_HEADER_INTS)
                .mapToObj(i -> bytes.getAtIndex(LittleEndian.I32, i)).toList());
        details.put("dtype", tokens.dtype().toString());
        return details;
    }

    /**
     * Tells whether the first 1024 bytes of a file are a header of llm.c, perhaps an unknown, damaged or byte-swapped
     * one: magics are dates, and most of the header is zero. No {@code u16} tokens of a vocabulary below 55,000 start
     * like a magic; they may start like a swapped one, but zeros do not follow.
     */
    static boolean isHeader(byte[] head) {
        if (head.length < Integer.BYTES) {
            return false;
        }
        int magic = MemorySegment.ofArray(head).get(LittleEndian.I32, 0);
        if (isKnown(magic)) {
            return true;
        }
        boolean isDate = isDate(magic) || Arrays.stream(SWAPS).anyMatch(swap -> isDate(swap.applyAsInt(magic)));
        return isDate && head.length >= 4 * USED_HEADER_BYTES
                && IntStream.range(USED_HEADER_BYTES, head.length).allMatch(i -> head[i] == 0);
    }

    private static boolean isKnown(int magic) {
        return magic == GPT2_MAGIC || magic == LLAMA3_MAGIC || magic == EVALUATION_MAGIC;
    }

    private static boolean isDate(int number) {
        int year = number / 10_000;
        int month = number / 100 % 100;
        int day = number % 100;
        return year >= 2024 && year < 2100 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
    }
}
