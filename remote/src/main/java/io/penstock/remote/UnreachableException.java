// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.ProxySelector;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A server that cannot be connected to. Before it has answered once, its name or port is as likely to be wrong as it is
 * to be starting: then it is not tried for long.
 */
final class UnreachableException extends IOException {

    private static final long serialVersionUID = 1;
    private static final int FIRST_ATTEMPTS = 6;
    /** Each of them waits for the connection's timeout. */
    private static final int FIRST_SLOW_ATTEMPTS = 2;

    /** The attempts that are worth making. */
    private final int attempts;

    private UnreachableException(String message, int attempts, Throwable cause) {
        super(message, cause);
        this.attempts = attempts;
    }

    int attempts() {
        return attempts;
    }

    /**
     * Returns the error of a failure to connect; null if there was a connection.
     *
     * @param name the object, for the message
     * @param failure what the client or the system said
     * @param hasAnswered whether the server has answered before
     * @param patience how long it was waited for
     */
    static @Nullable UnreachableException of(String name, URI uri, Throwable failure, boolean hasAnswered,
            Duration patience) {
        String text = failure.getMessage() == null ? "" : failure.getMessage();
        boolean isSlow = failure instanceof HttpConnectTimeoutException
                || failure instanceof SocketTimeoutException && text.contains("onnect");
        String reason = isSlow ? "no answer within " + patience.toMillis() + " ms" : switch (failure) {
            case UnknownHostException _, UnresolvedAddressException _ -> "the host " + uri.getHost() + " is unknown";
            case NoRouteToHostException _ -> "there is no route to the host";
            case ConnectException _ when isUnresolved(failure) -> "the host " + uri.getHost() + " is unknown";
            case ConnectException _ -> text.isEmpty() || text.contains("refused") ? "connection refused" : text;
            default -> null;
        };
        return reason == null ? null : new UnreachableException(name + ": cannot connect to " + endpoint(uri) + ": "
                + reason, hasAnswered ? Integer.MAX_VALUE : isSlow ? FIRST_SLOW_ATTEMPTS : FIRST_ATTEMPTS, failure);
    }

    private static boolean isUnresolved(Throwable failure) {
        Throwable cause = failure.getCause();
        return cause != null && (cause instanceof UnresolvedAddressException || isUnresolved(cause));
    }

    /** Where a request goes: through a proxy if there is one for it. */
    static String endpoint(URI uri) {
        ProxySelector proxies = ProxySelector.getDefault();
        String way = proxies == null ? "" : proxies.select(uri).stream().filter(proxy -> proxy.address() != null)
                .map(proxy -> " through the proxy " + proxy.address()).findFirst().orElse("");
        int port = uri.getPort() >= 0 ? uri.getPort() : uri.getScheme().equalsIgnoreCase("https") ? 443 : 80;
        return uri.getHost() + ":" + port + way;
    }
}
