// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** What a server sends. Reading never waits: it gives 0 bytes while there are none. */
final class SocketInput extends InputStream {

    private final SocketChannel channel;

    /** Connects to a server, whose host is looked up now. */
    SocketInput(InetSocketAddress server) throws IOException {
        String name = server.getHostString() + ":" + server.getPort();
        var found = new InetSocketAddress(server.getHostString(), server.getPort());
        if (found.isUnresolved()) {
            throw new UnknownHostException(name + ": found no such host");
        }
        try {
            channel = SocketChannel.open(found);
        } catch (IOException e) {
            throw new IOException(name + ": cannot connect: " + e.getMessage(), e);
        }
        channel.configureBlocking(false);
    }

    @Override
    public int read() {
        throw new UnsupportedOperationException("one byte of a socket");
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        return channel.read(ByteBuffer.wrap(into, offset, length));
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
