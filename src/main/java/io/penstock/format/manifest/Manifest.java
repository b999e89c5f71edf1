// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.manifest;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.manifest.ManifestPart.PartNumber;
import io.penstock.format.manifest.ManifestPart.TokenOrigin;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.io.Location;
import io.penstock.io.publish.JsonFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The parts of a token store, in order. Writing the manifest commits the store: a part that it does not name is not in
 * the store, even if another attempt left it behind. The parts keep their places and names.
 *
 * @param parts the parts: at least one, all of one dtype and tokenizer
 */
public record Manifest(List<ManifestPart> parts) {

    /** The ending of a manifest's name. */
    public static final String ENDING = ".manifest.json";

    /** The integers of Megatron's format. */
    private static final List<DType> DTYPES = List.of(DType.U8, DType.I8, DType.U16, DType.I16, DType.I32, DType.I64);
    static final String FORMAT = "penstock-manifest";
    private static final long VERSION = 1;
    /** Enough for a million parts. */
    private static final long MAX_BYTES = 1L << 28;
    private static final int SHOWN_PARTS = 8;
    private static final String WHAT = "a manifest of a token store";

    /**
     * Copies the parts, and checks that they belong together.
     *
     * @throws IllegalArgumentException if there is no part, a part occurs twice, or a part has another dtype or
     *     tokenizer than the first; names it
     */
    public Manifest {
        parts = List.copyOf(parts);
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("found no parts, expected at least one");
        }
        ManifestPart first = parts.getFirst();
        Set<String> paths = new HashSet<>();
        for (ManifestPart part : parts) {
            if (!paths.add(part.path())) {
                throw new IllegalArgumentException("found part " + part.path() + " twice");
            }
            require(first, part, "dtype", first.dtype(), part.dtype());
            if (!first.origin().vocabularySha256().equals(part.origin().vocabularySha256())) {
                require(first, part, "tokenizer", first.origin(), part.origin());
            }
        }
    }

    private static void require(ManifestPart first, ManifestPart part, String what, Object expected, Object found) {
        if (!found.equals(expected)) {
            throw new IllegalArgumentException("part " + part.path() + ": found " + what + " " + found + ", expected "
                    + expected + " as in " + first.path());
        }
    }

    /**
     * {@return a manifest} Numbered parts are sorted by number, and no number of their job may be missing.
     *
     * @param parts the parts, at least one; in order if they are not numbered
     * @throws IllegalArgumentException if a part is missing, occurs twice, or differs from the others; names it
     */
    public static Manifest of(List<ManifestPart> parts) {
        Optional<PartNumber> first = parts.isEmpty() ? Optional.empty() : parts.getFirst().number();
        if (first.isEmpty()) {
            parts.stream().filter(part -> part.number().isPresent()).findAny().ifPresent(part -> {
                throw new IllegalArgumentException("part " + part.path() + ": is part " + part.number().get().index()
                        + " of a job, expected one without a number as " + parts.getFirst().path());
            });
            return new Manifest(parts);
        }
        int count = first.get().count();
        SortedMap<Integer, ManifestPart> byIndex = new TreeMap<>();
        for (ManifestPart part : parts) {
            PartNumber number = part.number().orElseThrow(() -> new IllegalArgumentException("part " + part.path()
                    + ": has no number, expected one of " + count + " as " + parts.getFirst().path()));
            require(parts.getFirst(), part, "a job of this many parts:", count, number.count());
            require(parts.getFirst(), part, "a job of this input and these options:", first.get().job(), number.job());
            ManifestPart other = byIndex.putIfAbsent(number.index(), part);
            if (other != null) {
                throw new IllegalArgumentException("found part " + number.index() + " of " + count + " twice, as "
                        + other.path() + " and " + part.path() + ", expected the one to count");
            }
        }
        int missing = count - byIndex.size();
        if (missing > 0) {
            throw new IllegalArgumentException("found " + byIndex.size() + " of " + count + " parts, without "
                    + IntStream.range(0, count).filter(i -> !byIndex.containsKey(i)).limit(SHOWN_PARTS).boxed().toList()
                    + (missing > SHOWN_PARTS ? " and others" : ""));
        }
        return new Manifest(List.copyOf(byIndex.values()));
    }

    /**
     * Reads a manifest, without looking at its parts.
     *
     * @param file the manifest
     * @return the manifest
     * @throws MalformedStoreException if the file is something else
     * @throws IOException if it cannot be read
     */
    public static Manifest read(Location file) throws IOException {
        return JsonFile.read(file, WHAT, MAX_BYTES, Manifest::read);
    }

    private static Manifest read(JsonFields fields) {
        fields.expect("format", FORMAT);
        fields.expect("version", VERSION);
        DType dtype = dtype(fields);
        TokenOrigin origin = origin(fields);
        List<ManifestPart> parts = new ArrayList<>();
        for (JsonFields part : fields.objects("parts")) {
            parts.add(ManifestPart.read(part, dtype, origin, Optional.empty()));
            part.end();
        }
        Manifest manifest = new Manifest(parts);
        fields.expect("documents", manifest.documents());
        fields.expect("tokens", manifest.tokens());
        fields.end();
        return manifest;
    }

    static DType dtype(JsonFields fields) {
        DType dtype = DType.of(fields.text("dtype"));
        if (!DTYPES.contains(dtype)) {
            throw fields.wrong("dtype", dtype.toString(), "one of " + DTYPES);
        }
        return dtype;
    }

    static TokenOrigin origin(JsonFields fields) {
        return new TokenOrigin(fields.text("tokenizer"), fields.text("vocabulary_sha256"));
    }

    /**
     * Writes the manifest, atomically and flushed to disk, after a look at the sizes of the parts' files.
     *
     * @param file the manifest; the paths of the parts are relative to its folder
     * @param ifExists whether it replaces an existing one
     * @throws MalformedStoreException if a file of a part is missing or has another size; names it
     * @throws IOException if a manifest exists and is not to be replaced, or it cannot be written
     */
    public void write(Path file, IfExists ifExists) throws IOException {
        write(file, Location.of(file.toAbsolutePath()), ifExists);
    }

    /**
     * Writes a manifest that will be read elsewhere, for example from a bucket.
     *
     * @param file the file to write
     * @param published where it will be read: the paths of the parts are relative to its folder
     * @param ifExists whether it replaces an existing one
     * @throws IOException as {@link #write(Path, IfExists)}
     */
    public void write(Path file, Location published, IfExists ifExists) throws IOException {
        if (ifExists == IfExists.FAIL) {
            StagingFolder.requireAbsent(file);
        }
        for (ManifestPart part : parts) {
            requireSize(part, partFile(published, part, ".bin"), part.tokenBytes());
            requireSize(part, partFile(published, part, ".idx"), part.indexBytes());
        }
        try (StagingFolder staging = StagingFolder.open(file)) {
            String name = file.getFileName().toString();
            staging.write(name, MemorySegment.ofArray(toJson().getBytes(StandardCharsets.UTF_8)));
            if (ifExists == IfExists.FAIL) {
                StagingFolder.requireAbsent(file);
            }
            staging.publish(List.of(name));
        }
    }

    static Location partFile(Location manifest, ManifestPart part, String ending) {
        return manifest.parent().below(part.path() + ending);
    }

    static void requireSize(ManifestPart part, Location file, long bytes) throws IOException {
        if (file.infoOfNamed().kind() != EntryKind.FILE) {
            throw new MalformedStoreException(file, "no such file", bytes + " bytes of part " + part.path());
        }
        if (file.byteSize() != bytes) {
            throw new MalformedStoreException(file, file.byteSize() + " bytes",
                    bytes + ", as the manifest says of part " + part.path());
        }
    }

    /** {@return the content of the file, for those who write it themselves} */
    public String toJson() {
        ManifestPart first = parts.getFirst();
        return Json.pretty(Json.members("format", FORMAT, "version", VERSION, "dtype", first.dtype().toString(),
                "tokenizer", first.origin().tokenizer(), "vocabulary_sha256", first.origin().vocabularySha256(),
                "documents", documents(), "tokens", tokens(), "parts",
                parts.stream().map(ManifestPart::toMap).toList()));
    }

    /** {@return the stored type of the tokens} */
    public DType dtype() {
        return parts.getFirst().dtype();
    }

    /** {@return which tokenizer made the tokens} */
    public TokenOrigin origin() {
        return parts.getFirst().origin();
    }

    /** {@return the number of documents in all parts} */
    public long documents() {
        return parts.stream().mapToLong(ManifestPart::documents).reduce(0, Math::addExact);
    }

    /** {@return the number of tokens in all parts} */
    public long tokens() {
        return parts.stream().mapToLong(ManifestPart::tokens).reduce(0, Math::addExact);
    }
}
