package io.penstock.format.megatron;

import io.penstock.io.publish.CommittedFolder;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;
import java.nio.file.Path;

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
    public int order() {
        return 100;
    }

    @Override
    public boolean isTokens() {
        return true;
    }

    @Override
    public boolean matchesContent(Candidate candidate) throws IOException {
        CommittedFolder.Place index = () -> MegatronStore.located(candidate.path(), ".idx");
        return MegatronIndex.isMagic(candidate.head()) || candidate.isFile() && CommittedFolder.isFile(index)
                && MegatronIndex.isMagic(CommittedFolder.open(index, Candidate::headOf));
    }

    @Override
    public boolean matchesName(Candidate candidate) {
        return CommittedFolder.isFile(() -> MegatronStore.located(candidate.path(), ".idx")) && !candidate.isFolder()
                && !candidate.nameEndsWith(".ds");
    }

    @Override
    public Store open(Path path, OpenOptions options) throws IOException {
        return MegatronStore.open(path);
    }
}
