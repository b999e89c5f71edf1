// SPDX-License-Identifier: Apache-2.0
/** MosaicML's streaming datasets (MDS): shards of samples, plain or compressed. */
@NullMarked
package io.penstock.format.mds;

import org.jspecify.annotations.NullMarked;
