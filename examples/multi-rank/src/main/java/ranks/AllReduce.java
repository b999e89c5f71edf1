// SPDX-License-Identifier: Apache-2.0
package ranks;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Sums arrays over all ranks: rank 0 receives those of the others, adds them in the order of the ranks, so that the sum
 * is the same bits in every run, and sends it back. Over a socket in a file, for processes of one machine.
 */
final class AllReduce implements AutoCloseable {

    /** To rank 0; of rank 0: to each other rank. */
    private final SocketChannel[] peers;
    private final boolean isRoot;
    private final ByteBuffer bytes;

    private AllReduce(SocketChannel[] peers, boolean isRoot, int length) {
        this.peers = peers;
        this.isRoot = isRoot;
        this.bytes = ByteBuffer.allocateDirect(length * Double.BYTES).order(ByteOrder.nativeOrder());
    }

    /**
     * Connects the ranks; returns when all are there.
     *
     * @param socket a path that the ranks of one run share and nobody else uses
     * @param length of the arrays
     */
    static AllReduce connect(Path socket, int rank, int ranks, int length) throws IOException, InterruptedException {
        var address = UnixDomainSocketAddress.of(socket);
        if (rank > 0) {
            SocketChannel root = SocketChannel.open(StandardProtocolFamily.UNIX);
            while (!Files.exists(socket)) {
                Thread.sleep(5);
            }
            root.connect(address);
            root.write(ByteBuffer.wrap(new byte[] {(byte) rank}));
            return new AllReduce(new SocketChannel[] {root}, false, length);
        }
        SocketChannel[] peers = new SocketChannel[ranks - 1];
        Path binding = socket.resolveSibling(socket.getFileName() + ".binding");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(binding));
            Files.move(binding, socket);                    // whoever sees it can connect
            for (int i = 1; i < ranks; i++) {
                SocketChannel peer = server.accept();
                ByteBuffer number = ByteBuffer.allocate(1);
                read(peer, number, "a rank");
                peers[number.get(0) - 1] = peer;
            }
        } finally {
            Files.deleteIfExists(socket);
        }
        return new AllReduce(peers, true, length);
    }

    /** Replaces the values by their sums over all ranks. */
    void sum(double[] values) throws IOException {
        if (isRoot) {
            for (int i = 0; i < peers.length; i++) {
                read(peers[i], bytes.clear(), "rank " + (i + 1));
                for (int j = 0; j < values.length; j++) {
                    values[j] += bytes.getDouble(j * Double.BYTES);
                }
            }
            bytes.clear().asDoubleBuffer().put(values);
            for (SocketChannel peer : peers) {
                write(peer, bytes.clear());
            }
        } else {
            bytes.clear().asDoubleBuffer().put(values);
            write(peers[0], bytes.clear());
            read(peers[0], bytes.clear(), "rank 0");
            bytes.asDoubleBuffer().get(values);
        }
    }

    private static void read(SocketChannel peer, ByteBuffer into, String name) throws IOException {
        while (into.hasRemaining()) {
            if (peer.read(into) < 0) {
                throw new EOFException(name + " has ended");
            }
        }
        into.flip();
    }

    private static void write(SocketChannel peer, ByteBuffer from) throws IOException {
        while (from.hasRemaining()) {
            peer.write(from);
        }
    }

    @Override
    public void close() throws IOException {
        for (SocketChannel peer : Arrays.asList(peers)) {
            peer.close();
        }
    }
}
