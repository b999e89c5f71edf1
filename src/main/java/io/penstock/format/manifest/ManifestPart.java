// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.manifest;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.format.megatron.MegatronWriter.MegatronSummary;
import io.penstock.io.Location;
import io.penstock.io.publish.JsonFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.memory.DType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The description of a part in a manifest. The part's files are {@code PATH.bin}, {@code PATH.idx} and, with this
 * description, {@code PATH.part.json}. The description is small: send it as {@link #toJson} to whoever writes the
 * manifest.
 *
 * @param path the path of its files without an ending, relative to the folder of the manifest, names separated by
 *     slashes
 * @param dtype the stored type of its tokens
 * @param origin which tokenizer made them
 * @param number the number of the part in its job, if the job numbers its parts
 * @param documents the number of its documents
 * @param tokens the number of its tokens
 * @param tokenSha256 the SHA-256 of its {@code .bin}, 64 hexadecimal digits
 * @param indexBytes the size of its {@code .idx}
 * @param indexSha256 the SHA-256 of its {@code .idx}, 64 hexadecimal digits
 */
public record ManifestPart(String path, DType dtype, TokenOrigin origin, Optional<PartNumber> number, long documents,
        long tokens, String tokenSha256, long indexBytes, String indexSha256) {

    static final String PART = "penstock-part";
    static final long VERSION = 1;
    private static final long MAX_BYTES = 1 << 20;
    /** A store of a million parts then has fewer than 2^63. */
    private static final long MAX_COUNT = 1L << 40;
    private static final String WHAT = "a part of a manifest";

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if the path leads out of a folder, a number is negative, or a digest is not 64
     *     hexadecimal digits
     */
    public ManifestPart {
        Location.requireInner("of the manifest", path);
        if (documents < 0 || documents > MAX_COUNT || tokens < 0 || tokens > MAX_COUNT || indexBytes < 0) {
            throw new IllegalArgumentException(path + ": found " + documents + " documents, " + tokens
                    + " tokens, an index of " + indexBytes + " bytes, expected 0 or more of each, and at most "
                    + MAX_COUNT + " documents or tokens");
        }
        for (String digest : new String[] {tokenSha256, indexSha256}) {
            if (!TokenOrigin.SHA256.matcher(digest).matches()) {
                throw new IllegalArgumentException(path + ": found the SHA-256 '" + digest
                        + "', expected 64 hexadecimal digits");
            }
        }
    }

    static ManifestPart of(String name, TokenOrigin origin, @Nullable PartNumber number, MegatronSummary written) {
        return new ManifestPart(name, written.dtype(), origin, Optional.ofNullable(number), written.documents(),
                written.tokens(), written.tokenSha256(), written.indexBytes(), written.indexSha256());
    }

    /**
     * Reads the description that a {@link PartWriter} left with a part.
     *
     * @param part the part: its path without an ending, or with {@code .idx}, {@code .bin} or {@code .part.json}
     * @return the description; its path is right if the manifest is in the same folder, see {@link #in}
     * @throws IOException if there is none, or it cannot be read
     */
    public static ManifestPart read(Location part) throws IOException {
        String given = part.name();
        String name = given.endsWith(MegatronWriter.DESCRIPTION)
                ? given.substring(0, given.length() - MegatronWriter.DESCRIPTION.length())
                : MegatronWriter.prefix(Path.of(given)).toString();
        Location description = part.resolveSibling(name + MegatronWriter.DESCRIPTION);
        ManifestPart read = JsonFile.read(description, WHAT, MAX_BYTES, ManifestPart::read);
        if (!read.path.equals(name)) {
            throw new MalformedStoreException(description, "the description of " + read.path,
                    "that of " + name + " (was it renamed?)");
        }
        return read;
    }

    /**
     * Reads a description from a text that {@link #toJson} made.
     *
     * @param json the text
     * @return the description
     * @throws IllegalArgumentException if it is something else
     */
    public static ManifestPart parse(String json) {
        return read(JsonFields.parse(json, WHAT));
    }

    private static ManifestPart read(JsonFields fields) {
        fields.expect("format", PART);
        fields.expect("version", VERSION);
        DType dtype = Manifest.dtype(fields);
        TokenOrigin origin = Manifest.origin(fields);
        JsonFields number = fields.objectIfThere("number");
        Optional<PartNumber> numbered = Optional.empty();
        if (number != null) {
            numbered = Optional.of(new PartNumber(number.integer("index"), number.integer("count"),
                    number.text("job")));
            number.end();
        }
        ManifestPart part = read(fields, dtype, origin, numbered);
        fields.end();
        return part;
    }

    /** Reads a part's entry in a manifest. */
    static ManifestPart read(JsonFields fields, DType dtype, TokenOrigin origin, Optional<PartNumber> number) {
        return new ManifestPart(fields.text("path"), dtype, origin, number, fields.whole("documents"),
                fields.whole("tokens"), fields.text("bin_sha256"), fields.whole("idx_bytes"),
                fields.text("idx_sha256"));
    }

    /** {@return the description as a text, for {@link #parse}} */
    public String toJson() {
        Map<String, @Nullable Object> members = Json.members("format", PART, "version", VERSION, "dtype",
                dtype.toString(), "tokenizer", origin.tokenizer(), "vocabulary_sha256", origin.vocabularySha256());
        number.ifPresent(of -> members.put("number",
                Json.members("index", of.index(), "count", of.count(), "job", of.job())));
        members.putAll(toMap());
        return Json.pretty(members);
    }

    byte[] toBytes() {
        return toJson().getBytes(StandardCharsets.UTF_8);
    }

    Map<String, @Nullable Object> toMap() {
        return Json.members("path", path, "documents", documents, "tokens", tokens, "bin_sha256", tokenSha256,
                "idx_bytes", indexBytes, "idx_sha256", indexSha256);
    }

    /** {@return the size of the part's {@code .bin}} */
    public long tokenBytes() {
        return tokens * dtype.byteSize();
    }

    /**
     * {@return the same part in another folder}
     *
     * @param folder its folder, relative to that of the manifest, names separated by slashes; empty for the manifest's
     *     own
     */
    public ManifestPart in(String folder) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        return new ManifestPart(folder.isEmpty() ? name : folder + "/" + name, dtype, origin, number, documents,
                tokens, tokenSha256, indexBytes, indexSha256);
    }

    /**
     * The number of a part in its job.
     *
     * @param index its number, from 0
     * @param count how many parts the job has
     * @param job a digest of what all parts of the job must have in common, such as the input and the options; 64
     *     hexadecimal digits
     */
    public record PartNumber(int index, int count, String job) {

        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException if the number is not below the count, or the digest is not 64 hexadecimal
         *     digits
         */
        public PartNumber {
            if (index < 0 || index >= count) {
                throw new IllegalArgumentException("part " + index + " of " + count + ", expected 0 to " + (count - 1));
            }
            if (!TokenOrigin.SHA256.matcher(job).matches()) {
                throw new IllegalArgumentException("job: found '" + job + "', expected 64 hexadecimal digits");
            }
        }
    }

    /**
     * Which tokenizer made the tokens of a part. All parts of a manifest have the same.
     *
     * @param tokenizer the tokenizer's name, for people
     * @param vocabularySha256 the digest of its vocabulary, 64 hexadecimal digits; it alone decides whether two parts
     *     have the same tokenizer
     */
    public record TokenOrigin(String tokenizer, String vocabularySha256) {

        static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

        /**
         * Checks the digest.
         *
         * @throws IllegalArgumentException if it is not 64 hexadecimal digits
         */
        public TokenOrigin {
            if (!SHA256.matcher(vocabularySha256).matches()) {
                throw new IllegalArgumentException("vocabulary_sha256: found '" + vocabularySha256
                        + "', expected 64 hexadecimal digits");
            }
        }

        @Override
        public String toString() {
            return tokenizer + " (" + vocabularySha256.substring(0, 12) + "…)";
        }
    }
}
