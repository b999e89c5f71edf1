// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import io.penstock.store.StoreWriter;
import io.penstock.store.TokenContent;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** Writes converted documents as one part of a Megatron store. The format lacks {@code u32} and {@code u64}. */
final class MegatronDocuments implements StoreWriter.OfDocuments {

    @Override
    public List<String> endings() {
        return List.of(".idx", ".bin");
    }

    @Override
    public DType dtypeFor(DType source) {
        return switch (source) {
            case U32 -> DType.I32;
            case U64 -> DType.I64;
            default -> source;
        };
    }

    @Override
    public StoreWriter.DocumentSink create(Path target, DType dtype, IfExists ifExists) throws IOException {
        MegatronWriter writer = MegatronWriter.create(target, dtype, ifExists);
        return new OnePart(writer, writer.part(), dtype);
    }

    private record OnePart(MegatronWriter writer, MegatronPart part, DType dtype) implements StoreWriter.DocumentSink {

        @Override
        public void content(TokenContent content) {
            writer.content(content);
        }

        @Override
        public void append(MemorySegment tokens) throws IOException {
            part.append(tokens, 0, tokens.byteSize() / dtype.byteSize());
        }

        @Override
        public void append(long[] tokens, int count) throws IOException {
            part.append(tokens, 0, count);
        }

        @Override
        public void endDocument() throws IOException {
            part.endDocument();
        }

        @Override
        public List<Path> commit(Progress checksums) throws IOException {
            part.close();
            List<Path> files = writer.files();
            writer.commit(checksums);
            return files;
        }

        @Override
        public void close() {
            writer.close();
        }
    }
}
