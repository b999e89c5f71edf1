package io.penstock.tokenize;

import com.github.luben.zstd.ZstdInputStream;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Unpacks zstd: the only class that touches zstd-jni. */
final class ZstdFile {

    private static final int STREAM_BUFFER_BYTES = 128 << 10;

    private ZstdFile() {
    }

    static InputStream open(InputStream packed) throws IOException {
        return new ZstdInputStream(new BufferedInputStream(packed, STREAM_BUFFER_BYTES));
    }
}
