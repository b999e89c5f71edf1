// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Passes connections on to a server, and resets some of them in the middle of what the server answers. */
final class FaultProxy implements AutoCloseable {

    private final ServerSocket server = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final int target;
    private final int resetAfterBytes;
    private final AtomicInteger resets;

    /**
     * Starts a proxy.
     *
     * @param target the server's port
     * @param resets how many connections are reset, the first ones
     * @param resetAfterBytes how much of the answers passes before
     */
    FaultProxy(int target, int resets, int resetAfterBytes) throws IOException {
        this.target = target;
        this.resets = new AtomicInteger(resets);
        this.resetAfterBytes = resetAfterBytes;
        threads.submit(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    private Void accept() throws IOException {
        while (true) {
            Socket client = server.accept();
            Socket host = new Socket(InetAddress.getLoopbackAddress(), target);
            long most = resets.getAndDecrement() > 0 ? resetAfterBytes : Long.MAX_VALUE;
            threads.submit(() -> pass(client, host, Long.MAX_VALUE));
            threads.submit(() -> pass(host, client, most));
        }
    }

    private static Void pass(Socket from, Socket to, long most) throws IOException {
        byte[] buffer = new byte[4096];
        long passed = 0;
        try (from; to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(buffer); read > 0; read = in.read(buffer)) {
                if (passed + read > most) {
                    to.setSoLinger(true, 0);
                    return null;
                }
                out.write(buffer, 0, read);
                passed += read;
            }
        }
        return null;
    }

    @Override
    public void close() throws IOException {
        server.close();
        threads.shutdownNow();
    }
}
