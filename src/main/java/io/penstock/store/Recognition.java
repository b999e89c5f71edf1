package io.penstock.store;

import io.penstock.store.datatrove.DatatroveStore;
import io.penstock.store.llmc.LlmcStore;
import io.penstock.store.megatron.MegatronStore;
import io.penstock.store.npy.NpyStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Tells formats apart by the first bytes of a file, by the files beside it, and last by its name. */
final class Recognition {

    /** What any of the formats needs to be recognised: the header of llm.c's files. */
    private static final int HEAD_BYTES = 1024;

    private Recognition() {
    }

    static TokenFormat tokenFormat(Path path) throws IOException {
        if (!Files.isRegularFile(path)) {
            return ofPrefix(path);
        }
        byte[] head = head(path);
        if (MegatronStore.isIndex(head) || MegatronStore.isIndex(head(MegatronStore.indexOf(path)))) {
            return TokenFormat.MEGATRON;
        }
        if (LlmcStore.isHeader(head)) {
            return TokenFormat.LLMC;
        }
        if (NpyStore.isNpy(head)) {
            throw new MalformedStoreException(path, "a .npy array", "a token store (this opens as a tensor store)");
        }
        String name = path.getFileName().toString();
        if (Files.isRegularFile(MegatronStore.indexOf(path)) && !name.endsWith(".ds")) {
            return TokenFormat.MEGATRON;
        }
        if (Files.exists(DatatroveStore.indexOf(path)) || name.endsWith(".ds") || DatatroveStore.isCompanion(path)) {
            return TokenFormat.DATATROVE;
        }
        if (name.endsWith(".bin")) {
            return TokenFormat.NANOGPT;
        }
        throw new MalformedStoreException(path, "no format recognised",
                "Megatron .idx and .bin, llm.c's header, datatrove's .ds, or raw u16 tokens named .bin"
                + " (a format can be told)");
    }

    /** Whether a file is a {@code .npy}, or is named so. */
    static boolean isNpy(Path path) throws IOException {
        return Files.isRegularFile(path)
                && (NpyStore.isNpy(head(path)) || path.getFileName().toString().endsWith(".npy"));
    }

    private static TokenFormat ofPrefix(Path path) throws IOException {
        if (path.getFileName() != null && Files.isRegularFile(MegatronStore.indexOf(path))) {
            return TokenFormat.MEGATRON;
        }
        if (!Files.exists(path)) {
            throw new NoSuchFileException(path.toString(), null, "no such file, and no " + path + ".idx");
        }
        throw new MalformedStoreException(path, Files.isDirectory(path) ? "a directory" : "not a regular file",
                "a file of a token store, or the prefix of a Megatron store");
    }

    /** The first bytes of a file; none if there is no such file. */
    private static byte[] head(Path path) throws IOException {
        if (!Files.isRegularFile(path)) {
            return new byte[0];
        }
        try (InputStream in = Files.newInputStream(path)) {
            return in.readNBytes(HEAD_BYTES);
        } catch (AccessDeniedException _) {
            throw new AccessDeniedException(path.toString(), null, "permission denied");
        }
    }
}
