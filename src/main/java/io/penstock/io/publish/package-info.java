// SPDX-License-Identifier: Apache-2.0
/**
 * Publishing atomically: a file by {@link io.penstock.io.publish.AtomicFile}, a store of several files by
 * {@link io.penstock.io.publish.StagingFolder}. Both are written under a temporary name, flushed and renamed, so that
 * readers find the old content or the new one, also after a crash. A {@link io.penstock.io.publish.Generation} tells a
 * reader whether all files that it opened are of one version. Files are written through buffers in native memory, and
 * what is decoded once is kept in files that nobody sees.
 */
@NullMarked
package io.penstock.io.publish;

import org.jspecify.annotations.NullMarked;
