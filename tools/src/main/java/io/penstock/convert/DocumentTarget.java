// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.StoreWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** Writes documents of tokens, in another dtype if necessary and if all tokens fit. */
final class DocumentTarget {

    private final DocumentSource source;
    private final StoreWriter.DocumentSink documents;
    private final DType from;
    private final DType to;
    private final Reading reading;
    private final boolean countsBytes;
    private final long[] values = new long[Reading.STEP_BYTES];
    private long document;
    private long position;

    private DocumentTarget(DocumentSource source, StoreWriter.DocumentSink documents, DType to, Reading reading) {
        this.source = source;
        this.documents = documents;
        this.from = source.dtype();
        this.to = to;
        this.reading = reading;
        this.countsBytes = source.tokens() >= 0;
    }

    static Outcome write(StoreWriter.OfDocuments writer, Conversion conversion, Reading reading) throws IOException {
        try (DocumentSource source = DocumentSource.of(conversion)) {
            DType dtype = dtype(writer, conversion, source.dtype());
            List<Path> files;
            try (StoreWriter.DocumentSink documents = writer.create(conversion.target, dtype, conversion.ifExists)) {
                documents.content(source.content());
                reading.expect(source.tokens() < 0 ? source.count() : source.tokens() * source.dtype().byteSize());
                new DocumentTarget(source, documents, dtype, reading).writeDocuments();
                files = documents.commit(conversion.checksumProgress);
            } catch (IllegalArgumentException e) {
                throw new ConversionException(e.getMessage(), e);
            }
            return new Outcome(source.count(), files);
        }
    }

    private static DType dtype(StoreWriter.OfDocuments writer, Conversion conversion, DType from) {
        DType to = conversion.tokenDType != null ? conversion.tokenDType : writer.dtypeFor(from);
        if (to != from) {
            conversion.lose("dtype: " + from + " becomes " + to);
        }
        return to;
    }

    private void writeDocuments() throws IOException {
        long count = source.count();
        for (document = 0; document < count; document++) {
            position = 0;
            source.read(document, this::append);
            documents.endDocument();
            reading.advance(countsBytes ? 0 : 1);
        }
    }

    private void append(Span tokens) throws IOException {
        reading.copy(tokens, (piece, offset, bytes) -> {
            long count = bytes / from.byteSize();
            if (from == to) {
                documents.append(piece.asSlice(offset, bytes));
            } else {
                appendConverted(piece.asSlice(offset, bytes), (int) count);
            }
            position += count;
            if (countsBytes) {
                reading.advance(bytes);
            }
        });
    }

    private void appendConverted(MemorySegment piece, int count) throws IOException {
        Tensor tokens = Tensor.of(piece, from, count);
        long min = to.isUnsigned() ? 0 : -1L << 8 * to.byteSize() - 1;
        long max = -1L >>> 64 - 8 * to.byteSize() + (to.isUnsigned() ? 0 : 1);
        for (int i = 0; i < count; i++) {
            long value = tokens.getLong(i);
            if (value < min || value > max || value < 0 && from == DType.U64) {
                String found = from == DType.U64 ? Long.toUnsignedString(value) : Long.toString(value);
                throw new ConversionException(source.name(document) + ", token " + (position + i) + ": found " + found
                        + ", expected " + min + " to " + max + ", the range of " + to);
            }
            values[i] = value;
        }
        documents.append(values, count);
    }
}
