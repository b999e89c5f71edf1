// SPDX-License-Identifier: Apache-2.0
/**
 * Detects files whose bytes changed: block checksums in sidecar files, verification of whole stores by every checksum,
 * and verification of what a loader reads.
 */
@NullMarked
package io.penstock.store.integrity;

import org.jspecify.annotations.NullMarked;
