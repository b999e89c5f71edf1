// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.tokens;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Mapping;
import io.penstock.format.TokenRun;
import io.penstock.format.TokenRunStore;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import io.penstock.text.ShellText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Raw little-endian tokens without a header, {@code u16} by default, as nanoGPT prepares them; read in place as one
 * document.
 */
public final class NanogptProvider implements StoreProvider {

    private static final byte[] NPY_MAGIC = "\u0093NUMPY".getBytes(StandardCharsets.ISO_8859_1);
    private static final String NAME = "nanogpt";
    private static final long FIRST_SHOWN = 16;
    private static final long LAST_SHOWN = 8;

    /** For the service loader. */
    public NanogptProvider() {
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean isTokens() {
        return true;
    }

    @Override
    public boolean matchesName(Candidate candidate) {
        return candidate.isFile() && candidate.nameEndsWith(".bin");
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        DType dtype = options.dtype() == null ? DType.U16 : options.dtype();
        // Detection has looked at the head already. Not through the mapping, whose pages around it would be read too.
        if (options.format() != null && startsWith(NPY_MAGIC, Candidate.headOf(path))) {
            throw new MalformedStoreException(path, 0, "a file of the format npy", "tokens without a header; make a"
                    + " token store of it with: penstock convert " + ShellText.quoted(path) + " STORE --to megatron");
        }
        return Mapping.open(path, file -> {
            TokenRun tokens = read(file, dtype);
            return TokenRunStore.of(NAME, tokens, () -> details(tokens));
        });
    }

    private static boolean startsWith(byte[] magic, byte[] head) {
        return head.length >= magic.length && Arrays.equals(magic, 0, magic.length, head, 0, magic.length);
    }

    private static TokenRun read(MappedFile file, DType dtype) {
        long tokenBytes = dtype.byteSize();
        if (file.byteSize() == 0) {
            throw new MalformedStoreException(file.location(), 0, "the file is empty",
                    "a " + dtype + " token at least");
        }
        if (file.byteSize() % tokenBytes != 0) {
            throw new MalformedStoreException(file.location(), file.byteSize() / tokenBytes * tokenBytes,
                    "the file's " + file.byteSize() + " bytes end inside a token",
                    "a whole number of " + dtype + " tokens, a multiple of " + tokenBytes + " bytes (is it cut?)");
        }
        return new TokenRun(file, 0, dtype, file.byteSize() / tokenBytes);
    }

    private static Map<String, @Nullable Object> details(TokenRun tokens) {
        Tensor all = tokens.tensor();
        long count = tokens.tokenCount();
        return Json.members("dtype", tokens.dtype().toString(),
                "first", LongStream.range(0, Math.min(count, FIRST_SHOWN)).map(all::getLong).boxed().toList(),
                "last", LongStream.range(Math.max(0, count - LAST_SHOWN), count).map(all::getLong).boxed().toList());
    }
}
