// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import io.penstock.internal.Sha256;
import io.penstock.io.Location;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.function.Consumer;

/** The digests of a part's tokens, computed as they are written. */
final class TokenDigests implements Consumer<ByteBuffer> {

    private final MessageDigest sha256 = Sha256.digest();
    private final BlockChecksums.Sums blocks = new BlockChecksums.Sums();

    @Override
    public void accept(ByteBuffer bytes) {
        blocks.add(bytes.duplicate());
        sha256.update(bytes);
    }

    String sha256() {
        return Sha256.hex(sha256);
    }

    BlockChecksums blocks(Location file) throws IOException {
        return blocks.of(file);
    }
}
