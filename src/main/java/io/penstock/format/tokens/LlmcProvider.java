// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.tokens;

import io.penstock.format.Mapping;
import io.penstock.format.TokenRun;
import io.penstock.format.TokenRunStore;
import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;

/** llm.c's data files: a header of 256 {@code i32}, then tokens, {@code u16} or {@code u32} by its version. */
public final class LlmcProvider implements StoreProvider {

    private static final String NAME = "llmc";

    /** For the service loader. */
    public LlmcProvider() {
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
    public boolean matchesContent(Candidate candidate) {
        return LlmcHeader.isHeader(candidate.head());
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return Mapping.open(path, file -> {
            TokenRun tokens = LlmcHeader.read(file);
            return TokenRunStore.of(NAME, tokens, () -> LlmcHeader.details(tokens));
        });
    }
}
