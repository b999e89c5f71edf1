// SPDX-License-Identifier: Apache-2.0
package org.example.format;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Candidate;
import io.penstock.store.IfExists;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoreProvider;
import io.penstock.store.StoreWriter;
import io.penstock.store.StoredArray;
import io.penstock.store.StreamedTensor;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.CRC32C;

/** The format {@code tok}: one document of {@code u16} tokens, little-endian; {@code TOK1} may come before them. */
public final class TokProvider implements StoreProvider {

    private static final String MAGIC = "TOK1";

    @Override
    public String name() {
        return "tok";
    }

    @Override
    public boolean isTokens() {
        return true;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        return candidate.startsWith(MAGIC);
    }

    @Override
    public boolean matchesName(Candidate candidate) {
        return candidate.isFile() && candidate.nameEndsWith(".tok");
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        byte[] head = Candidate.headOf(path);
        int headerBytes = new Candidate(path, head, true, false).startsWith(MAGIC) ? MAGIC.length() : 0;
        MappedFile file = path.open();
        if ((file.byteSize() - headerBytes) % Short.BYTES != 0) {
            file.close();
            throw new MalformedStoreException(path, file.byteSize() - 1, "half a token", "two bytes a token");
        }
        return new Tokens(file, headerBytes);
    }

    /** Lets {@code penstock convert} write the format; without it, the format is only read. */
    @Override
    public Optional<StoreWriter> writer() {
        return Optional.of(new Writer());
    }

    private record Writer() implements StoreWriter.OfTensors {

        @Override
        public List<String> endings() {
            return List.of(".tok");
        }

        @Override
        public boolean isNamed() {
            return false;
        }

        @Override
        public List<Path> write(Path target, List<StreamedTensor> tensors, Map<String, String> metadata,
                IfExists ifExists) throws IOException {
            StreamedTensor tokens = tensors.getFirst();
            if (tokens.spec().dtype() != DType.U16) {
                throw new IllegalArgumentException("tok: found " + tokens.spec() + ", expected u16");
            }
            if (ifExists == IfExists.FAIL && Files.exists(target)) {
                throw new FileAlreadyExistsException(target.toString());
            }
            Path part = target.resolveSibling(target.getFileName() + ".part");
            try (FileChannel out = FileChannel.open(part, CREATE, TRUNCATE_EXISTING, WRITE)) {
                out.write(ByteBuffer.wrap(MAGIC.getBytes(US_ASCII)));
                tokens.writeTo((source, offset, bytes) -> out.write(source.asSlice(offset, bytes).asByteBuffer()));
                out.force(true);
            }
            Files.move(part, target, ATOMIC_MOVE);
            return List.of(target);
        }
    }

    private record Tokens(MappedFile file, long headerBytes) implements TokenStore, StoreInfo.Described {

        @Override
        public DType dtype() {
            return DType.U16;
        }

        @Override
        public long tokenCount() {
            return (file.byteSize() - headerBytes) / Short.BYTES;
        }

        @Override
        public long documentCount() {
            return tokenCount() == 0 ? 0 : 1;
        }

        @Override
        public long documentStart(long document) {
            return Objects.checkIndex(document, documentCount() + 1) * tokenCount();
        }

        @Override
        public void locate(long firstToken, long tokens, Span into) {
            Objects.checkFromIndexSize(firstToken, tokens, tokenCount());
            into.set(file, headerBytes + firstToken * Short.BYTES, tokens * Short.BYTES);
        }

        @Override
        public StoreInfo info() {
            Tensor all = Tensor.of(file.segment().asSlice(headerBytes), DType.U16, tokenCount());
            return new StoreInfo("tok", List.of(file.location()), Map.of(), List.of(new StoredArray("tokens", all)));
        }

        @Override
        public String fingerprint() {
            CRC32C start = new CRC32C();
            start.update(file.range(0, Math.min(file.byteSize(), 1 << 20)).toArray(ValueLayout.JAVA_BYTE));
            return "tok:" + tokenCount() + ":" + Long.toHexString(start.getValue());
        }

        @Override
        public void close() {
            file.close();
        }
    }
}
