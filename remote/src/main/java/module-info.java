// SPDX-License-Identifier: Apache-2.0
/** Stores that are elsewhere: in buckets, on web servers, on the hub; read through a cache on local disk. */
module io.penstock.remote {
    requires transitive io.penstock;
    requires java.net.http;
    requires java.xml;
    requires static org.jspecify;

    exports io.penstock.remote;
    exports io.penstock.remote.cache to io.penstock.tools;

    uses io.penstock.remote.S3CredentialsProvider;

    provides io.penstock.io.FileSource.Provider with
            io.penstock.remote.RemoteProvider.Http,
            io.penstock.remote.RemoteProvider.Https,
            io.penstock.remote.RemoteProvider.S3,
            io.penstock.remote.RemoteProvider.Hf;
}
