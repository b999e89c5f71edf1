// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.manifest;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.TokenDescription;
import io.penstock.format.TokenRun;
import io.penstock.format.megatron.MegatronStore;
import io.penstock.internal.PrefixSums;
import io.penstock.internal.Sha256;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.io.publish.Generation;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import io.penstock.store.integrity.Verifiable;
import io.penstock.store.integrity.Verification.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a {@link Manifest} as one store: positions count through the documents of all parts, in order, and a
 * range of tokens may span parts. Its documents and tokens are those of the parts' merged store.
 */
final class ManifestStore implements TokenStore, Verifiable {

    private static final String CHECKSUM = "manifest digests";
    /** With more parts, none keeps its two files open, because processes have a limit of open files. */
    private static final int MAX_OPEN_PARTS = 256;

    private final Location file;
    private final Manifest manifest;
    private final List<MegatronStore> stores;
    private final PrefixSums tokens;
    private final PrefixSums documents;
    private final boolean isOneRun;
    private final boolean documentsAreRuns;

    private ManifestStore(Location file, Manifest manifest, List<MegatronStore> stores) {
        this.file = file;
        this.manifest = manifest;
        this.stores = stores;
        this.tokens = PrefixSums.ofLengths(stores.size(), part -> stores.get(part).tokenCount());
        this.documents = PrefixSums.ofLengths(stores.size(), part -> stores.get(part).documentCount());
        this.isOneRun = stores.stream().filter(store -> store.tokenCount() > 0).count() < 2
                && stores.stream().allMatch(MegatronStore::isOneRun);
        this.documentsAreRuns = stores.stream().allMatch(MegatronStore::documentsAreRuns);
    }

    /**
     * Opens a manifest and all of its parts, and checks the sizes of their files, documents and tokens; {@link #verify}
     * compares the digests too. An error names the part's file.
     */
    public static ManifestStore open(Location file) throws IOException {
        return Generation.open(file, () -> Generation.of(List.of(file)), () -> open(file, Manifest.read(file)));
    }

    private static ManifestStore open(Location file, Manifest manifest) throws IOException {
        List<MegatronStore> stores = new ArrayList<>();
        try {
            for (ManifestPart part : manifest.parts()) {
                MegatronStore store = open(file, part);
                stores.add(store);
                if (store.content() != stores.getFirst().content()) {
                    throw new MalformedStoreException(Manifest.partFile(file, part, ".idx"),
                            store.content().fieldName(), stores.getFirst().content().fieldName()
                                    + ", as in the first part");
                }
                if (manifest.parts().size() > MAX_OPEN_PARTS) {
                    store.releaseDescriptors();
                }
            }
            return new ManifestStore(file, manifest, List.copyOf(stores));
        } catch (Throwable t) {
            stores.forEach(MegatronStore::close);
            throw t;
        }
    }

    private static MegatronStore open(Location file, ManifestPart part) throws IOException {
        Location index = Manifest.partFile(file, part, ".idx");
        Manifest.requireSize(part, index, part.indexBytes());
        Manifest.requireSize(part, Manifest.partFile(file, part, ".bin"), part.tokenBytes());
        MegatronStore store = MegatronStore.open(index);
        try {
            require(index, "tokens of ", store.dtype(), part.dtype());
            require(index, "documents: ", store.documentCount(), part.documents());
            require(index, "tokens: ", store.tokenCount(), part.tokens());
            return store;
        } catch (Throwable t) {
            store.close();
            throw t;
        }
    }

    private static void require(Location index, String what, Object found, Object expected) {
        if (!found.equals(expected)) {
            throw new MalformedStoreException(index, what + found, expected + ", as the manifest says");
        }
    }

    @Override
    public TokenContent content() {
        return stores.getFirst().content();
    }

    @Override
    public DType dtype() {
        return manifest.dtype();
    }

    @Override
    public long tokenCount() {
        return tokens.total();
    }

    @Override
    public long documentCount() {
        return documents.total();
    }

    @Override
    public long documentStart(long document) {
        Objects.checkIndex(document, documents.total() + 1);
        if (document == documents.total()) {
            return tokens.total();
        }
        int part = documents.runOf(document);
        return tokens.start(part) + stores.get(part).documentStart(document - documents.start(part));
    }

    @Override
    public boolean isOneRun() {
        return isOneRun;
    }

    @Override
    public boolean documentsAreRuns() {
        return documentsAreRuns;
    }

    @Override
    public void locate(long firstToken, long tokenCount, Span into) {
        int parts = parts(firstToken, tokenCount);
        if (parts != 1) {
            throw TokenRun.inPieces(file, firstToken, tokenCount, parts);
        }
        locatePart(firstToken, tokenCount, 0, into);
    }

    @Override
    public int parts(long firstToken, long tokenCount) {
        int part = firstPart(firstToken, tokenCount);
        int pieces = 0;
        long left = tokenCount;
        for (long from = firstToken; pieces == 0 || left > 0; part++) {
            long count = Math.min(left, tokens.start(part + 1) - from);
            if (count > 0 || left == 0) {
                pieces += stores.get(part).parts(from - tokens.start(part), count);
            }
            from += count;
            left -= count;
        }
        return pieces;
    }

    @Override
    public void locatePart(long firstToken, long tokenCount, int piece, Span into) {
        int part = firstPart(firstToken, tokenCount);
        int before = piece;
        long left = tokenCount;
        for (long from = firstToken; before >= 0 && part < stores.size(); part++) {
            long start = tokens.start(part);
            long count = Math.min(left, tokens.start(part + 1) - from);
            if (count > 0 || left == 0) {
                int pieces = stores.get(part).parts(from - start, count);
                if (before < pieces) {
                    stores.get(part).locatePart(from - start, count, before, into);
                    return;
                }
                before -= pieces;
            }
            from += count;
            left -= count;
            if (left == 0) {
                break;
            }
        }
        throw new IndexOutOfBoundsException(file + ": piece " + piece + " of " + parts(firstToken, tokenCount));
    }

    /** Returns the part of a range's first token; the last part for an empty range at the end. */
    private int firstPart(long firstToken, long tokenCount) {
        TokenRun.check(file, firstToken, tokenCount, tokens.total());
        return firstToken == tokens.total() ? stores.size() - 1 : tokens.runOf(firstToken);
    }

    /** {@inheritDoc} It is made of the digests in the manifest, so the names of the parts' files do not matter. */
    @Override
    public String fingerprint() {
        MessageDigest sha256 = Sha256.digest();
        for (ManifestPart part : manifest.parts()) {
            sha256.update((part.tokenSha256() + part.indexSha256()).getBytes(StandardCharsets.US_ASCII));
        }
        return ManifestProvider.NAME + ":" + dtype() + ":tokens=" + tokenCount() + ":docs=" + documentCount()
                + ":sha256=" + Sha256.shortHex(sha256);
    }

    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) throws IOException {
        Map<String, @Nullable Object> details = Json.members("dtype", dtype().toString(),
                "documents", documentCount(), "parts", (long) stores.size(),
                "tokenizer", manifest.origin().tokenizer(),
                "vocabulary_sha256", manifest.origin().vocabularySha256());
        List<Location> files = new ArrayList<>(List.of(file));
        for (ManifestPart part : manifest.parts()) {
            files.add(Manifest.partFile(file, part, ".idx"));
            files.add(Manifest.partFile(file, part, ".bin"));
        }
        return new Inspection(file, ManifestProvider.NAME, files, details,
                List.of(TokenDescription.of(this, depth, progress)));
    }

    @Override
    public String checksum() {
        return CHECKSUM;
    }

    /** {@return the manifest} */
    @Override
    public Set<Location> uncovered() {
        return Set.of(file);
    }

    @Override
    public void verify(Consumer<Fault> faults, Progress progress) throws IOException {
        long total = manifest.parts().stream().mapToLong(part -> part.tokenBytes() + part.indexBytes()).sum();
        long done = 0;
        for (ManifestPart part : manifest.parts()) {
            verify(Manifest.partFile(file, part, ".idx"), part.indexSha256(), faults, progress, done, total);
            done += part.indexBytes();
            verify(Manifest.partFile(file, part, ".bin"), part.tokenSha256(), faults, progress, done, total);
            done += part.tokenBytes();
        }
    }

    private void verify(Location partFile, String expected, Consumer<Fault> faults, Progress progress, long before,
            long total) throws IOException {
        AtomicLong done = new AtomicLong(before);
        String found;
        try (InputStream in = partFile.newInputStream()) {
            found = Sha256.hex(in, bytes -> progress.update(done.addAndGet(bytes), total));
        }
        if (!found.equals(expected)) {
            faults.accept(new Fault(partFile, CHECKSUM, partFile + ": SHA-256 " + found + ", expected " + expected
                    + ", as " + file.name() + " says"));
        }
    }

    @Override
    public void close() {
        stores.forEach(MegatronStore::close);
    }

    @Override
    public String toString() {
        return file + " (" + tokenCount() + " tokens of " + dtype() + " in " + stores.size() + " parts)";
    }
}
