package io.penstock.store;

import io.penstock.memory.DType;
import io.penstock.store.datatrove.DatatroveStore;
import io.penstock.store.llmc.LlmcStore;
import io.penstock.store.megatron.MegatronStore;
import io.penstock.store.nanogpt.NanogptStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/** The formats of token stores. */
public enum TokenFormat {
    /** Megatron-LM's indexed dataset: tokens in {@code .bin}, sequences and documents in {@code .idx}. */
    MEGATRON {
        @Override
        TokenStore open(Path path, DType dtype) throws IOException {
            return MegatronStore.open(path);
        }
    },
    /** Raw little-endian tokens without a header, {@code u16} unless told otherwise, as nanoGPT prepares them. */
    NANOGPT {
        @Override
        TokenStore open(Path path, DType dtype) throws IOException {
            return NanogptStore.open(path, dtype == null ? DType.U16 : dtype);
        }
    },
    /** llm.c's data files: a header of 256 {@code i32}, then tokens, {@code u16} or {@code u32} by its version. */
    LLMC {
        @Override
        TokenStore open(Path path, DType dtype) throws IOException {
            return LlmcStore.open(path);
        }
    },
    /** datatrove's tokenized files: raw tokens in {@code .ds}, document ends in {@code .ds.index}. */
    DATATROVE {
        @Override
        TokenStore open(Path path, DType dtype) throws IOException {
            return DatatroveStore.open(path, dtype);
        }
    };

    /**
     * Opens a store of this format.
     *
     * @param dtype the type of its tokens, or null for what the format says or defaults to
     */
    abstract TokenStore open(Path path, DType dtype) throws IOException;

    /**
     * The format that {@link #toString} names so.
     *
     * @param id {@code megatron}, {@code nanogpt}, {@code llmc} or {@code datatrove}
     * @return the format
     * @throws IllegalArgumentException if no format has that name; lists those that are
     */
    public static TokenFormat of(String id) {
        for (TokenFormat format : values()) {
            if (format.toString().equals(id)) {
                return format;
            }
        }
        throw new IllegalArgumentException("unknown token format '" + id + "', expected one of "
                + Arrays.toString(values()));
    }

    /**
     * The format of a store by its content, and by its name where the content says nothing.
     *
     * @param path a file of the store, or the prefix of a Megatron store
     * @return the format that {@link TokenStore#open(Path)} reads it as; it may still turn out malformed
     * @throws IOException if there is no such file, or it cannot be read
     * @throws MalformedStoreException if neither content nor name is that of a token store
     */
    public static TokenFormat recognize(Path path) throws IOException {
        return Recognition.tokenFormat(path);
    }

    /** The name in lower case, as command line and JSON write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
