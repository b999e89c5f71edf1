// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.manifest;

import io.penstock.format.manifest.ManifestPart.PartNumber;
import io.penstock.format.manifest.ManifestPart.TokenOrigin;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.memory.DType;
import io.penstock.store.IfExists;
import io.penstock.store.Progress;
import io.penstock.store.TokenContent;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Writes one part of a manifest store, as one attempt of one task: a store in Megatron's format and its description.
 * Each attempt has a path of its own; the {@link Manifest} names the attempt that counts. Without a commit, nothing
 * remains.
 *
 * <p>One thread writes documents at a time.
 */
public final class PartWriter implements AutoCloseable {

    private final MegatronWriter writer;
    private final MegatronPart documents;
    private final String name;
    private final TokenOrigin origin;
    private final @Nullable PartNumber number;

    private PartWriter(MegatronWriter writer, String name, TokenOrigin origin, @Nullable PartNumber number) {
        this.writer = writer;
        this.documents = writer.part();
        this.name = name;
        this.origin = origin;
        this.number = number;
    }

    /**
     * Creates a writer of a part without a number. The manifest keeps such parts in the order in which it gets them.
     *
     * @param path the path of its files, without an ending
     * @param dtype the stored type of the tokens, from {@link MegatronWriter#dtypeFor}
     * @param origin which tokenizer makes them
     * @param ifExists whether {@link #commit} replaces an existing part
     * @return the writer, to be closed by the caller
     * @throws IOException as {@link MegatronWriter#create}
     */
    public static PartWriter create(Path path, DType dtype, TokenOrigin origin, IfExists ifExists) throws IOException {
        return open(path, dtype, origin, null, ifExists);
    }

    /**
     * Creates a writer of a numbered part: a manifest that lacks one of the numbers is refused.
     *
     * @param path the path of its files, without an ending
     * @param dtype the stored type of the tokens
     * @param origin which tokenizer makes them
     * @param number the number of the part in its job
     * @param ifExists whether {@link #commit} replaces an existing part
     * @return the writer, to be closed by the caller
     * @throws IOException as {@link MegatronWriter#create}
     */
    public static PartWriter create(Path path, DType dtype, TokenOrigin origin, PartNumber number, IfExists ifExists)
            throws IOException {
        return open(path, dtype, origin, number, ifExists);
    }

    private static PartWriter open(Path path, DType dtype, TokenOrigin origin, @Nullable PartNumber number,
            IfExists ifExists) throws IOException {
        MegatronWriter writer = MegatronWriter.create(path, dtype, ifExists);
        try {
            PartWriter part = new PartWriter(writer, MegatronWriter.prefix(path).getFileName().toString(), origin,
                    number);
            writer.describe(written -> ManifestPart.of(part.name, origin, number, written).toBytes());
            return part;
        } catch (IOException | RuntimeException e) {
            writer.close();
            throw e;
        }
    }

    /**
     * Says what the part's numbers are, as {@link MegatronWriter#content} does.
     *
     * @param what the content
     * @return this writer
     */
    public PartWriter content(TokenContent what) {
        writer.content(what);
        return this;
    }

    /** {@return where the part's documents go; closed by {@link #commit} and {@link #close}} */
    public MegatronPart documents() {
        return documents;
    }

    /**
     * Publishes the part, complete and flushed to disk. Closes the writer, even on failure.
     *
     * @param progress receives the bytes that are checksummed
     * @return the part's description; its path is right if the manifest is in the same folder, see {@link
     *     ManifestPart#in}
     * @throws IOException as {@link MegatronWriter#commit(Progress)}
     * @throws IllegalStateException if there are tokens after the last document's end
     */
    public ManifestPart commit(Progress progress) throws IOException {
        return ManifestPart.of(name, origin, number, writer.commit(progress));
    }

    /** Deletes everything that is not committed. Calling it again does nothing. */
    @Override
    public void close() {
        writer.close();
    }
}
