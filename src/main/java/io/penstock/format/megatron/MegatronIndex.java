// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Advice;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.Tensor;
import io.penstock.store.StoredArray;
import io.penstock.store.TokenContent;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * The {@code .idx} of a Megatron store. All numbers are little-endian; nothing after the header is aligned:
 *
 * <pre>
 *    0  9 bytes   "MMIDIDX" 0 0
 *    9  u64       version, 1
 *   17  u8        dtype code
 *   18  u64       S, sequences
 *   26  u64       D, document indices: one more than documents
 *   34  i32[S]    sequence lengths, in tokens
 *       i64[S]    sequence pointers, in bytes; as written, the sum of the lengths before
 *       i64[D]    document indices: the first sequence of each document, then S
 *       i8[S]     sequence modes; only in multimodal stores
 * </pre>
 *
 * <p>An index may select, reorder or repeat sequences of a shared {@code .bin}. Then the sequences are not one run, and
 * {@link SequencePositions} locates each. Nothing is copied to the heap: a look-up reads the mapping.
 */
final class MegatronIndex {

    static final long HEADER_BYTES = 34;
    static final long VERSION = 1;
    static final long VERSION_OFFSET = 9;
    static final long DTYPE_OFFSET = 17;
    static final long SEQUENCES_OFFSET = 18;
    static final long DOCUMENT_INDICES_OFFSET = 26;

    static final byte[] MAGIC = "MMIDIDX\0\0".getBytes(StandardCharsets.US_ASCII);
    /** The types of the codes 1 to 8. Those behind are Penstock's, for content of its own: Megatron refuses them. */
    private static final List<DType> DTYPES =
            List.of(DType.U8, DType.I8, DType.I16, DType.I32, DType.I64, DType.F64, DType.F32, DType.U16);
    /** Entries that are read from disk and checked at a time. */
    private static final long CHUNK_ENTRIES = 1 << 20;

    private final MappedFile file;
    private final MemorySegment bytes;
    private final DType dtype;
    private final TokenContent content;
    private final long sequences;
    private final long documents;
    private final long pointersOffset;
    private final long documentIndicesOffset;
    private final long modesOffset;
    private long tokens;
    private long binBytes;
    private boolean isOneRun = true;

    /** Reads and checks an index; {@link MegatronStore} checks the {@code .bin} against it. */
    MegatronIndex(MappedFile file) {
        this.file = file;
        this.bytes = file.segment();
        byte[] head = bytes.asSlice(0, Math.min(MAGIC.length, bytes.byteSize())).toArray(JAVA_BYTE);
        if (!Arrays.equals(head, Arrays.copyOf(MAGIC, head.length))) {
            throw malformed(0, "magic " + HexFormat.of().formatHex(head),
                    HexFormat.of().formatHex(MAGIC) + " (is this a Megatron index?)");
        }
        if (bytes.byteSize() < HEADER_BYTES) {
            throw malformed(bytes.byteSize(), "the file ends inside its header", HEADER_BYTES + " bytes of it");
        }
        long version = bytes.get(LittleEndian.I64, VERSION_OFFSET);
        if (version != VERSION) {
            throw malformed(VERSION_OFFSET, "version " + Long.toUnsignedString(version), "1");
        }
        int code = bytes.get(JAVA_BYTE, DTYPE_OFFSET) & 0xFF;
        if (code == 0 || code > DTYPES.size() + TokenContent.ANSWERS.ordinal()) {
            throw malformed(DTYPE_OFFSET, "dtype code " + code, "1..10 (is this a Megatron index?)");
        }
        this.content = TokenContent.values()[Math.max(0, code - DTYPES.size())];
        this.dtype = code > DTYPES.size() ? DType.I32 : DTYPES.get(code - 1);
        this.sequences = bytes.get(LittleEndian.I64, SEQUENCES_OFFSET);
        long documentIndices = bytes.get(LittleEndian.I64, DOCUMENT_INDICES_OFFSET);
        long room = bytes.byteSize() - HEADER_BYTES;
        if (sequences < 0 || sequences > room / (Integer.BYTES + Long.BYTES)) {
            throw malformed(SEQUENCES_OFFSET, "a count of " + Long.toUnsignedString(sequences) + " sequences",
                    "at most " + room / (Integer.BYTES + Long.BYTES) + ", which the file's " + bytes.byteSize()
                    + " bytes have room for (is it cut?)");
        }
        this.pointersOffset = HEADER_BYTES + sequences * Integer.BYTES;
        this.documentIndicesOffset = pointersOffset + sequences * Long.BYTES;
        room = bytes.byteSize() - documentIndicesOffset;
        if (documentIndices < 1 || documentIndices > room / Long.BYTES) {
            throw malformed(DOCUMENT_INDICES_OFFSET,
                    "a count of " + Long.toUnsignedString(documentIndices) + " document indices",
                    "1 to " + room / Long.BYTES + ", which the file's " + bytes.byteSize()
                    + " bytes have room for (does it end inside document_indices?)");
        }
        this.documents = documentIndices - 1;
        this.modesOffset = documentIndicesOffset + documentIndices * Long.BYTES;
        room = bytes.byteSize() - modesOffset;
        if (room != 0 && room != sequences) {
            throw malformed(modesOffset, room + " bytes behind document_indices",
                    "0, or " + sequences + " sequence modes");
        }
        checkSequences();
        checkDocuments();
    }

    static boolean isMagic(byte[] head) {
        return head.length >= MAGIC.length && Arrays.equals(head, 0, MAGIC.length, MAGIC, 0, MAGIC.length);
    }

    TokenContent content() {
        return content;
    }

    /** Returns the code of a content and a dtype that the format supports. */
    static int codeOf(TokenContent content, DType dtype) {
        return content == TokenContent.TOKENS ? codeOf(dtype) : DTYPES.size() + content.ordinal();
    }

    /** Returns the code of a dtype, 1 to 8; 0 if the format does not support it. */
    static int codeOf(DType dtype) {
        return DTYPES.indexOf(dtype) + 1;
    }

    /** Reads entries from disk at once, without a page fault for each page. */
    private MemorySegment populated(long offset, long byteSize) {
        file.advise(Advice.POPULATE_READ, offset, byteSize);
        return bytes.asSlice(offset, byteSize);
    }

    /** Checks lengths and pointers, counts the tokens, and finds out whether the sequences are one run. */
    private void checkSequences() {
        for (long from = 0; from < sequences; from += CHUNK_ENTRIES) {
            long count = Math.min(CHUNK_ENTRIES, sequences - from);
            checkSequences(from, (int) count,
                    populated(HEADER_BYTES + from * Integer.BYTES, count * Integer.BYTES),
                    populated(pointersOffset + from * Long.BYTES, count * Long.BYTES));
        }
    }

    private void checkSequences(long from, int count, MemorySegment lengths, MemorySegment pointers) {
        int elementBytes = dtype.byteSize();
        long start = runStart();
        for (int i = 0; i < count; i++) {
            long length = lengths.get(LittleEndian.I32, (long) i * Integer.BYTES);
            long pointer = pointers.get(LittleEndian.I64, (long) i * Long.BYTES);
            // Elements have 1, 2, 4 or 8 bytes.
            if (length < 0 || pointer < 0 || (pointer & elementBytes - 1) != 0
                    || pointer > Long.MAX_VALUE - length * elementBytes) {
                throw malformedSequence(from + i, length, pointer);
            }
            isOneRun &= pointer == start + tokens * elementBytes;
            binBytes = Math.max(binBytes, pointer + length * elementBytes);
            tokens += length;
        }
    }

    private MalformedStoreException malformedSequence(long sequence, long length, long pointer) {
        if (length < 0) {
            return malformed(HEADER_BYTES + sequence * Integer.BYTES,
                    "sequence " + sequence + " has " + length + " tokens", "0 or more");
        }
        return malformed(pointersOffset + sequence * Long.BYTES,
                "the pointer of sequence " + sequence + " is " + pointer, "0 or more, a multiple of the "
                + dtype.byteSize() + " bytes of a token, and an end within 2^63 bytes");
    }

    private void checkDocuments() {
        if (firstSequence(0) != 0) {
            throw malformed(documentIndicesOffset, "document 0 starts at sequence " + firstSequence(0), "0");
        }
        long previous = 0;
        for (long from = 0; from <= documents; from += CHUNK_ENTRIES) {
            long count = Math.min(CHUNK_ENTRIES, documents + 1 - from);
            MemorySegment indices = populated(documentIndicesOffset + from * Long.BYTES, count * Long.BYTES);
            for (int i = 0; i < count; i++) {
                long index = indices.get(LittleEndian.I64, (long) i * Long.BYTES);
                if (index < previous || index > sequences) {
                    throw malformed(documentIndicesOffset + (from + i) * Long.BYTES, "document index " + (from + i)
                            + " is " + index, previous + " to " + sequences + ": not before the one before it, and"
                            + " within the sequences");
                }
                previous = index;
            }
        }
        if (previous != sequences) {
            throw malformed(documentIndicesOffset + documents * Long.BYTES, "the last document ends at sequence "
                    + previous, sequences + ", the count of sequences");
        }
    }

    private MalformedStoreException malformed(long offset, String found, String expected) {
        return new MalformedStoreException(file.location(), offset, found, expected);
    }

    DType dtype() {
        return dtype;
    }

    long sequences() {
        return sequences;
    }

    long documents() {
        return documents;
    }

    boolean isMultimodal() {
        return modesOffset < bytes.byteSize();
    }

    long tokens() {
        return tokens;
    }

    long binBytes() {
        return binBytes;
    }

    /** Tells whether the sequences are consecutive in the {@code .bin}, in the order of the index. */
    boolean isOneRun() {
        return isOneRun;
    }

    /** Returns the offset of that run in the {@code .bin}. */
    long runStart() {
        return sequences == 0 ? 0 : pointer(0);
    }

    /** Returns the first sequence of a document; for the number of documents, the number of sequences. */
    long firstSequence(long document) {
        return bytes.get(LittleEndian.I64, documentIndicesOffset + document * Long.BYTES);
    }

    long pointer(long sequence) {
        return bytes.get(LittleEndian.I64, pointersOffset + sequence * Long.BYTES);
    }

    int length(long sequence) {
        return bytes.get(LittleEndian.I32, HEADER_BYTES + sequence * Integer.BYTES);
    }

    byte mode(long sequence) {
        return bytes.get(JAVA_BYTE, modesOffset + sequence);
    }

    /** Returns the arrays before the modes, as views. */
    List<StoredArray> arrays() {
        return List.of(array("sequence_lengths", HEADER_BYTES, DType.I32, sequences),
                array("sequence_pointers", pointersOffset, DType.I64, sequences),
                array("document_indices", documentIndicesOffset, DType.I64, documents + 1));
    }

    StoredArray modes() {
        return array("sequence_modes", modesOffset, DType.I8, sequences);
    }

    private StoredArray array(String name, long offset, DType type, long count) {
        return new StoredArray(name, Tensor.of(bytes.asSlice(offset, count * type.byteSize()), type, count));
    }
}
