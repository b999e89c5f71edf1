package io.penstock.format.megatron;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.io.Advice;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.Tensor;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

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
 *       i64[S]    sequence pointers, in bytes; as it is written, the running sum of the lengths before
 *       i64[D]    document indices: the first sequence of each document, then S
 *       i8[S]     sequence modes; multimodal stores alone
 * </pre>
 *
 * <p>An index of some sequences of a shared {@code .bin}, or of all in another order, has pointers that leave gaps, go
 * back, or meet the same tokens twice: then the sequences are not one run, and {@link SequencePositions} says where
 * each is. Nothing is copied to the heap: a look-up reads the mapping.
 */
final class MegatronIndex {

    static final long HEADER_BYTES = 34;
    static final long VERSION = 1;
    static final long VERSION_OFFSET = 9;
    static final long DTYPE_OFFSET = 17;
    static final long SEQUENCES_OFFSET = 18;
    static final long DOCUMENT_INDICES_OFFSET = 26;

    private static final byte[] MAGIC = "MMIDIDX\0\0".getBytes(StandardCharsets.US_ASCII);
    private static final DType[] DTYPE_OF_CODE =
            {null, DType.U8, DType.I8, DType.I16, DType.I32, DType.I64, DType.F64, DType.F32, DType.U16};
    /** Entries that are brought in and checked at a time. */
    private static final long CHUNK_ENTRIES = 1 << 20;

    private final MappedFile file;
    private final MemorySegment bytes;
    private final DType dtype;
    private final long sequences;
    private final long documents;
    private final long pointersOffset;
    private final long documentIndicesOffset;
    private final long modesOffset;
    private long tokens;
    private long binBytes;
    private boolean isOneRun = true;

    /** Reads and checks an index; what it says of the {@code .bin} is for {@link MegatronStore} to check. */
    MegatronIndex(MappedFile file) throws MalformedStoreException {
        this.file = file;
        this.bytes = file.segment();
        checkMagic();
        long version = bytes.get(LittleEndian.I64, VERSION_OFFSET);
        if (version != VERSION) {
            throw malformed(VERSION_OFFSET, "version " + Long.toUnsignedString(version), "1");
        }
        this.dtype = readDType();
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

    static byte[] magic() {
        return MAGIC.clone();
    }

    /** The code of a dtype, 1 to 8; 0 if the format has none for it. */
    static int codeOf(DType dtype) {
        return Math.max(0, Arrays.asList(DTYPE_OF_CODE).indexOf(dtype));
    }

    private void checkMagic() throws MalformedStoreException {
        byte[] head = bytes.asSlice(0, Math.min(MAGIC.length, bytes.byteSize())).toArray(JAVA_BYTE);
        if (!Arrays.equals(head, Arrays.copyOf(MAGIC, head.length))) {
            throw malformed(0, "magic " + HexFormat.of().formatHex(head),
                    HexFormat.of().formatHex(MAGIC) + " (is this a Megatron index?)");
        }
        if (bytes.byteSize() < HEADER_BYTES) {
            throw malformed(bytes.byteSize(), "the file ends inside its header", HEADER_BYTES + " bytes of it");
        }
    }

    private DType readDType() throws MalformedStoreException {
        int code = bytes.get(JAVA_BYTE, DTYPE_OFFSET) & 0xFF;
        if (code == 0 || code >= DTYPE_OF_CODE.length) {
            throw malformed(DTYPE_OFFSET, "dtype code " + code, "1..8 (is this a Megatron index?)");
        }
        return DTYPE_OF_CODE[code];
    }

    /** Checks lengths and pointers, adds up the tokens, and looks whether they are one run. */
    private void checkSequences() throws MalformedStoreException {
        for (long from = 0; from < sequences; from += CHUNK_ENTRIES) {
            long count = Math.min(CHUNK_ENTRIES, sequences - from);
            file.advise(Advice.POPULATE_READ, HEADER_BYTES + from * Integer.BYTES, count * Integer.BYTES);
            file.advise(Advice.POPULATE_READ, pointersOffset + from * Long.BYTES, count * Long.BYTES);
            checkSequences(from, (int) count);
        }
    }

    private void checkSequences(long from, int count) throws MalformedStoreException {
        MemorySegment lengths = bytes.asSlice(HEADER_BYTES + from * Integer.BYTES, (long) count * Integer.BYTES);
        MemorySegment pointers = bytes.asSlice(pointersOffset + from * Long.BYTES, (long) count * Long.BYTES);
        int elementBytes = dtype.byteSize();
        long start = runStart();
        for (int i = 0; i < count; i++) {
            long length = lengths.get(LittleEndian.I32, (long) i * Integer.BYTES);
            long pointer = pointers.get(LittleEndian.I64, (long) i * Long.BYTES);
            // Elements are of 1, 2, 4 or 8 bytes.
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

    private void checkDocuments() throws MalformedStoreException {
        if (firstSequence(0) != 0) {
            throw malformed(documentIndicesOffset, "document 0 starts at sequence " + firstSequence(0), "0");
        }
        long previous = 0;
        for (long from = 0; from <= documents; from += CHUNK_ENTRIES) {
            long count = Math.min(CHUNK_ENTRIES, documents + 1 - from);
            file.advise(Advice.POPULATE_READ, documentIndicesOffset + from * Long.BYTES, count * Long.BYTES);
            previous = checkDocuments(from, (int) count, previous);
        }
        if (previous != sequences) {
            throw malformed(documentIndicesOffset + documents * Long.BYTES, "the last document ends at sequence "
                    + previous, sequences + ", the count of sequences");
        }
    }

    private long checkDocuments(long from, int count, long before) throws MalformedStoreException {
        MemorySegment indices = bytes.asSlice(documentIndicesOffset + from * Long.BYTES, (long) count * Long.BYTES);
        long previous = before;
        for (int i = 0; i < count; i++) {
            long index = indices.get(LittleEndian.I64, (long) i * Long.BYTES);
            if (index < previous || index > sequences) {
                throw malformed(documentIndicesOffset + (from + i) * Long.BYTES, "document index " + (from + i)
                        + " is " + index, previous + " to " + sequences + ": not before the one before it, and"
                        + " within the sequences");
            }
            previous = index;
        }
        return previous;
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

    /** Tokens of all sequences together. */
    long tokens() {
        return tokens;
    }

    /** Bytes that the {@code .bin} must have: where the last sequence in it ends. */
    long binBytes() {
        return binBytes;
    }

    /** Whether the sequences are one run in the {@code .bin}, in the order of the index. */
    boolean isOneRun() {
        return isOneRun;
    }

    /** Where in the {@code .bin} the run starts that the sequences are. */
    long runStart() {
        return sequences == 0 ? 0 : pointer(0);
    }

    /** The first sequence of a document; of the document after the last, the count of sequences. */
    long firstSequence(long document) {
        return bytes.get(LittleEndian.I64, documentIndicesOffset + document * Long.BYTES);
    }

    /** Where a sequence starts in the {@code .bin}. */
    long pointer(long sequence) {
        return bytes.get(LittleEndian.I64, pointersOffset + sequence * Long.BYTES);
    }

    /** Tokens of a sequence. */
    int length(long sequence) {
        return bytes.get(LittleEndian.I32, HEADER_BYTES + sequence * Integer.BYTES);
    }

    /** The mode of a sequence of a multimodal store. */
    byte mode(long sequence) {
        return bytes.get(JAVA_BYTE, modesOffset + sequence);
    }

    Tensor lengths() {
        return Tensor.of(bytes.asSlice(HEADER_BYTES, sequences * Integer.BYTES), DType.I32, sequences);
    }

    Tensor pointers() {
        return Tensor.of(bytes.asSlice(pointersOffset, sequences * Long.BYTES), DType.I64, sequences);
    }

    Tensor documentIndices() {
        return Tensor.of(bytes.asSlice(documentIndicesOffset, (documents + 1) * Long.BYTES), DType.I64,
                documents + 1);
    }

    Tensor modes() {
        return Tensor.of(bytes.asSlice(modesOffset, sequences), DType.I8, sequences);
    }
}
