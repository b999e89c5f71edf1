package io.penstock.format.safetensors;

import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;

/** Hugging Face's tensor files: one file, or several with an index. */
public final class SafetensorsProvider implements StoreProvider {

    /** For the service loader. */
    public SafetensorsProvider() {
    }

    @Override
    public String name() {
        return SafetensorsFiles.FORMAT;
    }

    @Override
    public int order() {
        return 500;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        return SafetensorsHeader.isStart(candidate.head());
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.isFile() && candidate.nameEndsWith(SafetensorsFiles.ENDING, SafetensorsIndex.ENDING)
                || !candidate.filesEnding(SafetensorsIndex.ENDING).isEmpty()
                || !candidate.filesEnding(SafetensorsFiles.ENDING).isEmpty();
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return SafetensorsFiles.open(path);
    }
}
