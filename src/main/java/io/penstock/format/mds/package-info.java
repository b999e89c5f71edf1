/** MosaicML's streaming datasets (MDS): shards of samples, plain or compressed. */
package io.penstock.format.mds;
