// SPDX-License-Identifier: Apache-2.0
/**
 * Files on HTTP servers and in S3 buckets, read range by range through a cache on a local disk.
 *
 * <p>{@link io.penstock.store.Store#open(java.net.URI)} opens {@code http}, {@code https} and {@code s3} URIs with
 * {@linkplain io.penstock.remote.RemoteSettings#fromEnvironment settings of the environment};
 * {@link io.penstock.remote.RemoteFiles} with settings of the program.
 */
@NullMarked
package io.penstock.remote;

import org.jspecify.annotations.NullMarked;
