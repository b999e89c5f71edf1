// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import io.penstock.store.StoreWriter;
import java.io.IOException;
import java.util.Optional;

/** Megatron-LM's indexed dataset: tokens in {@code .bin}, sequences and documents in {@code .idx}. */
public final class MegatronProvider implements StoreProvider {

    /** For the service loader. */
    public MegatronProvider() {
    }

    @Override
    public String name() {
        return "megatron";
    }

    @Override
    public boolean isTokens() {
        return true;
    }

    @Override
    public boolean matchesContent(Candidate candidate) throws IOException {
        Location index = MegatronStore.indexOf(candidate.path());
        return MegatronIndex.isMagic(candidate.head()) || candidate.isFile() && index.isFile()
                && MegatronIndex.isMagic(Candidate.headOf(index));
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return MegatronStore.indexOf(candidate.path()).isFile() && !candidate.isFolder()
                && !candidate.nameEndsWith(".ds");
    }

    @Override
    public Optional<StoreWriter> writer() {
        return Optional.of(new MegatronDocuments());
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return MegatronStore.open(path);
    }
}
